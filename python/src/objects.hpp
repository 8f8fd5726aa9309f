/// The classes of the Python module.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bindings.hpp"

namespace zhalo::python {

/// zhalo.Context, which domains share.
struct Context {
  std::shared_ptr<const Owned<zhalo_context, zhalo_context_destroy>> handle;
  /// Of the thread whose call runs: a context takes one at a time.
  std::shared_ptr<std::mutex> turn = std::make_shared<std::mutex>();

  /// Calls the C interface without Python's lock, so that other threads of Python go on. Whoever
  /// waits for a turn does not have that lock, and whoever has a turn does not need it.
  template <class Call>
  void run(const Call& call) const {
    int status = ZHALO_OK;
    {
      const nb::gil_scoped_release unlocked;
      const std::lock_guard own_turn(*turn);
      status = call();
    }
    if (status != ZHALO_OK) throw StatusError(status, zhalo_last_error());
  }

  /// What prepare() makes of Python's arguments. An error on one rank is raised on all. Collective.
  template <class Prepare>
  auto agreed(const Prepare& prepare) const {
    std::optional<decltype(prepare())> prepared;
    run_agreed([&] { prepared.emplace(prepare()); });
    return std::move(*prepared);
  }
  /// The text of the lowest rank that gives one; empty if none does. Collective.
  std::string shared(const std::optional<std::string>& text) const;
  /// InputError unless all ranks that can give something do, or none does; `what` is the argument.
  /// Collective.
  void agree_on_giving(bool can_give, bool gives, const std::string& what) const;

 private:
  void run_agreed(const std::function<void()>& work) const;
};

/// The array that call(data, size) fills.
template <class T, class Call>
NumpyArray filled(const Context& context, std::vector<std::size_t> shape, const Call& call) {
  NewArray<T> array(std::move(shape));
  context.run([&] { return call(array.data(), array.size()); });
  return array.release();
}
/// The same by a collective call: a rank without memory for its array stops the others. Collective.
template <class T, class Call>
NumpyArray filled_together(const Context& context, const std::vector<std::size_t>& shape,
                           const Call& call) {
  NewArray<T> array = context.agreed([&] { return NewArray<T>(shape); });
  context.run([&] { return call(array.data(), array.size()); });
  return array.release();
}

/// zhalo.Box.
struct Box {
  zhalo_box view{};
  int num_axes = 0;  ///< 2 or 3 where the caller gave one value for each axis; 0: any number
};

/// zhalo.Particles: arrays of the caller, which it keeps alive.
class Particles {
 public:
  /// Messages call the positions `name`.
  Particles(nb::handle positions, nb::handle velocities, nb::handle masses, nb::handle types,
            const char* name = "positions");

  const zhalo_particles& view() const { return view_; }
  /// Whether the caller gave any: types of 0 are types, too.
  bool has_types() const { return has_types_; }

 private:
  /// (num, dimensions) numbers as columns.
  void set_rows(zhalo_column* columns, nb::handle rows, const char* what);
  /// Whether the caller gave it. Of no particles any empty array is as good as none.
  bool is_to_set(nb::handle column) const;
  /// Whether it is one number, which may be in an array.
  bool is_for_all(nb::handle column) const;
  void set_masses(nb::handle masses);
  void set_types(nb::handle types);
  Array keep(nb::handle values);
  /// InputError unless there is one element or row for each particle.
  void validate_num(std::size_t num, const char* what) const;

  zhalo_particles view_{};
  bool has_types_ = false;
  std::vector<Array> kept_;
};

/// zhalo.Domain.
struct Domain {
  Context context;
  Owned<zhalo_domain, zhalo_domain_destroy> handle;
  int dimensions = 3;

  zhalo_domain_counts counts(int species) const {
    zhalo_domain_counts counts{};
    context.run([&] { return zhalo_domain_get_counts(handle.get(), species, &counts); });
    return counts;
  }
  /// Of the positions on all ranks, also where a rank gave none.
  int precision() const { return counts(0).precision; }
  std::size_t num(int species) const { return static_cast<std::size_t>(counts(species).num); }
};

}  // namespace zhalo::python
