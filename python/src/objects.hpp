/// The classes of the Python module.
#pragma once

#include <array>
#include <vector>

#include "bindings.hpp"

namespace zhalo::python {

/// zhalo.Context.
struct Context {
  Owned<zhalo_context, zhalo_context_destroy> handle;
};

/// zhalo.Box.
struct Box {
  zhalo_box view{};
};

/// zhalo.Particles: arrays of the caller, which it keeps alive.
class Particles {
 public:
  Particles(nb::handle positions, nb::handle velocities, nb::handle masses, nb::handle types);

  const zhalo_particles& view() const { return view_; }

 private:
  /// (num, dimensions) numbers as columns.
  void set_rows(zhalo_column* columns, nb::handle rows, const char* what);
  void set_masses(nb::handle masses);
  void set_types(nb::handle types);
  Array keep(nb::handle values);
  /// InputError unless there is one element or row for each particle.
  void validate_num(std::size_t num, const char* what) const;

  zhalo_particles view_{};
  std::vector<Array> kept_;
};

/// zhalo.Domain.
struct Domain {
  Owned<zhalo_domain, zhalo_domain_destroy> handle;
  zhalo_domain_counts counts(int species) const {
    zhalo_domain_counts counts{};
    run([&] { return zhalo_domain_get_counts(handle.get(), species, &counts); });
    return counts;
  }
  /// Of the positions on all ranks, also where a rank gave none.
  int precision() const { return counts(0).precision; }
  std::size_t num(int species) const { return static_cast<std::size_t>(counts(species).num); }
};

}  // namespace zhalo::python
