#include "zhalo/mesh/gravity.hpp"

#include <utility>
#include <vector>

#include "src/comm/agreement.hpp"
#include "src/core/instantiate.hpp"
#include "src/mesh/mode_tables.hpp"

namespace zhalo {
namespace {

template <class T>
Modes<T> potential_of(const Context& context, const Modes<T>& source,
                      const GravityOptions& options) {
  validate_periodic(source.decomposition().grid(), "potentials are asked for");
  validate_equal(context.comm, numbers_of(options.laplacian, options.derivative),
                 "the options of potentials and accelerations");
  Modes<T> potential = copy_of(context, source);
  solve_poisson(context, potential, options.laplacian);
  return potential;
}

template <class T>
std::array<Field<T>, 3> make_accelerations(const Context& context, const Modes<T>& source,
                                           const GravityOptions& options) {
  const Decomposition& decomposition = source.decomposition();
  const Modes<T> potential = potential_of(context, source, options);
  FieldTransform<T> transform(context, decomposition);
  const auto along = [&](int axis) {
    Modes<T> modes = copy_of(context, potential);
    differentiate(context, modes, axis, options.derivative);
    scale(context, modes, -1);
    Field<T> field(context, decomposition);
    transform.backward(std::move(modes), field);
    return field;
  };
  return {along(0), along(1), along(2)};
}

}  // namespace

template <class T, class Real>
Buffer<T> potential_at(const Context& context, const Modes<T>& source,
                       const Particles<Real>& points, const GravityOptions& options) {
  return finish_together(context, [&] {
    Field<T> field(context, source.decomposition());
    FieldTransform<T>(context, source.decomposition())
        .backward(potential_of(context, source, options), field);
    return readout(context, field, points, options.window);
  });
}

template <class T, class Real>
std::array<Buffer<T>, 3> acceleration_at(const Context& context, const Modes<T>& source,
                                         const Particles<Real>& points,
                                         const GravityOptions& options) {
  return finish_together(context, [&] {
    const std::array<Field<T>, 3> fields = make_accelerations(context, source, options);
    std::vector<Buffer<T>> values =
        readout(context, std::vector<const Field<T>*>{&fields[0], &fields[1], &fields[2]}, points,
                options.window);
    return std::array<Buffer<T>, 3>{std::move(values[0]), std::move(values[1]),
                                    std::move(values[2])};
  });
}

template <class T>
std::array<Field<T>, 3> acceleration_fields(const Context& context, const Modes<T>& source,
                                            const GravityOptions& options) {
  return finish_together(context, [&] { return make_accelerations(context, source, options); });
}

#define ZHALO_GRAVITY_AT(T, Real)                                                          \
  template Buffer<T> potential_at(const Context&, const Modes<T>&, const Particles<Real>&, \
                                  const GravityOptions&);                                  \
  template std::array<Buffer<T>, 3> acceleration_at(                                       \
      const Context&, const Modes<T>&, const Particles<Real>&, const GravityOptions&);
ZHALO_FOR_REAL_PAIRS(ZHALO_GRAVITY_AT)
ZHALO_FOR_REALS(acceleration_fields);

}  // namespace zhalo
