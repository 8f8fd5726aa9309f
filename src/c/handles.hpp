/// What the handles of zhalo/zhalo.h hold, how errors become statuses, and the caller's particles
/// as columns.
#pragma once

#include <cstddef>
#include <memory>
#include <variant>
#include <vector>

#include "src/comm/agreement.hpp"
#include "src/core/validate.hpp"
#include "zhalo/catalogue/attach.hpp"
#include "zhalo/catalogue/catalogue.hpp"
#include "zhalo/comm/context.hpp"
#include "zhalo/domain/domain.hpp"
#include "zhalo/fof/fof.hpp"
#include "zhalo/knn/knn.hpp"
#include "zhalo/zhalo.h"

// A handle shares what it needs with other handles. So the caller may destroy them in any order.
// The names are C's: NOLINTBEGIN(readability-identifier-naming)
struct zhalo_context {
  std::shared_ptr<const zhalo::Context> shared;
};

struct zhalo_domain {
  std::shared_ptr<const zhalo::Context> context;
  std::variant<zhalo::Domain<float>, zhalo::Domain<double>> particles;
};

struct zhalo_groups {
  zhalo_domain domain;
  zhalo::FofResult linked;  ///< of species 0
  /// Of species 1 and of those after it.
  std::vector<zhalo::AttachResult> attached;
  std::vector<bool> is_attached;
};

struct zhalo_catalogue {
  zhalo_domain domain;
  zhalo::Catalogue table;
};

struct zhalo_neighbours {
  zhalo_domain domain;
  std::variant<zhalo::KnnResult<float>, zhalo::KnnResult<double>> lists;
  int species = 0;         ///< of the queries, in whose order the lists are
  bool of_points = false;  ///< lists are in the caller's order already
};
// NOLINTEND(readability-identifier-naming)

namespace zhalo::c {

/// Keeps the message of the exception that is being handled, and returns its status.
int keep_error() noexcept;
void forget_error() noexcept;

/// Runs `work` and returns its status: no exception gets to the caller.
template <class Work>
int status_of(const Work& work) noexcept {
  try {
    work();
  } catch (...) {
    return keep_error();
  }
  forget_error();
  return ZHALO_OK;
}

/// What the pointer points to. InputError for null; `what` is in the message.
template <class T>
T& at(T* pointer, const char* what) {
  validate(pointer != nullptr, "the pointer to the {} is null", what);
  return *pointer;
}

/// The caller's options, or the defaults.
template <class Options>
Options options_or_default(const Options* options) {
  return options == nullptr ? Options{} : *options;
}

/// InputError unless `value` is one of the constants 0 to `last`.
inline int one_of(int value, int last, const char* what) {
  validate(value >= 0 && value <= last, "the {} is {} (must be 0 to {}, see zhalo.h)", what, value,
           last);
  return value;
}

/// Calls `f` with the domain in its precision, and returns what it returns.
template <class F>
auto call_with(const zhalo_domain& domain, const F& f) {
  return std::visit(f, domain.particles);
}

/// InputError unless the domain has the species, and all ranks name the same. Collective.
inline void validate_species(const zhalo_domain& domain, int species) {
  zhalo::validate_species(species,
                          call_with(domain, [](const auto& of) { return of.num_species(); }));
  validate_equal(domain.context->comm, {species}, "the species");
}

/// Collective. `*handle` becomes what make() returns, or null if any rank fails.
template <class Handle, class Make>
void make_handle(const std::shared_ptr<const Context>& context, Handle** handle, const Make& make) {
  std::unique_ptr<Handle> made;
  context->comm.together([&] {
    at(handle, "handle that is made");
    made = std::make_unique<Handle>(make());
  });
  *handle = made.release();
}

/// InputError unless an array of the caller has room for so many elements.
inline void validate_room(const void* to, Index room, Index needed) {
  validate(room >= needed, "the array has room for {} elements, and {} are needed", room, needed);
  validate(to != nullptr || needed == 0, "the array for {} elements is null", needed);
}

/// Copies values in host memory or in memory of `exec` to an array of the caller.
template <class T>
void copy_out(const Exec& exec, Span<const T> values, T* to, Index room) {
  validate_room(to, room, values.size());
  if (values.empty()) return;
  copy_bytes(exec, to, values.data(), static_cast<std::size_t>(values.size()) * sizeof(T));
}

/// Values of the particles of one species, in the domain's order.
template <class T>
struct DomainValues {
  Span<const T> values;
  int species = 0;
  Index per_particle = 1;
};

/// Copies them to an array of the caller, in the order in which this rank gave the particles.
/// Collective.
template <class T>
void copy_in_caller_order(const zhalo_domain& domain, const DomainValues<T>& from, T* to,
                          Index room) {
  const auto size = from.per_particle * static_cast<Index>(sizeof(T));
  const auto copy = [&](const auto& particles) {
    const Index num = particles.num_origin(from.species);
    validate_room(to, room, num * from.per_particle);
    const ColumnView column{from.values.data(), particles.num(from.species), size, 0};
    const Exec& exec = domain.context->exec;
    if (std::holds_alternative<Host>(exec)) {
      particles.to_caller_order(column, {to, num, size}, from.species);
      return;
    }
    // The caller's array may be in host memory.
    Buffer<T> ordered(exec, num * from.per_particle, "results in the caller's order");
    particles.to_caller_order(column, {ordered.data(), num, size}, from.species);
    copy_out<T>(exec, ordered.span(), to, room);
  };
  domain.context->comm.together([&] { call_with(domain, copy); });
}

// The caller's particles of zhalo.h as Particles.

/// Bytes of a number; InputError for a precision that numbers do not have.
std::size_t size_of_number(int precision);

/// 2 or 3; InputError for other dimensions.
int dimensions_of(const zhalo_particles& particles);

/// Brings the columns of a species to where the context computes. The memory lives as long as this
/// object, or is the caller's.
class CallerColumns {
 public:
  /// InputError for particles without positions, and for columns that cannot be as they are given.
  CallerColumns(const Exec& exec, const zhalo_particles& given);

  template <class Real>
  Particles<Real> view();
  /// The same without any other column.
  template <class Real>
  Particles<Real> positions();

 private:
  zhalo_column checked(zhalo_column column, std::size_t size, const char* what);
  void validate_location(const zhalo_column& column, Index bytes, const char* what) const;
  RealColumn numbers(const zhalo_column& column, const char* what);
  Strided<std::uint8_t> types();

  const Exec& exec_;
  const zhalo_particles& given_;
  int dimensions_;
  bool copies_;
  std::vector<Buffer<std::byte>> uploaded_;
};

}  // namespace zhalo::c
