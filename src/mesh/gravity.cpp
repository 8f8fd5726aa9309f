#include "zhalo/mesh/gravity.hpp"

#include <utility>
#include <vector>

#include "src/comm/agreement.hpp"
#include "src/mesh/field_transform.hpp"
#include "src/mesh/mode_tables.hpp"

namespace zhalo {
namespace {

template <class T>
Modes<T> potential_of(const Context& context, const Modes<T>& source,
                      const GravityOptions& options) {
  validate_periodic(source.decomposition().grid(), "potentials are asked for");
  validate_equal(context.comm,
                 {static_cast<Index>(options.laplacian), static_cast<Index>(options.derivative)},
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

template Buffer<float> potential_at(const Context&, const Modes<float>&, const Particles<float>&,
                                    const GravityOptions&);
template Buffer<float> potential_at(const Context&, const Modes<float>&, const Particles<double>&,
                                    const GravityOptions&);
template Buffer<double> potential_at(const Context&, const Modes<double>&, const Particles<float>&,
                                     const GravityOptions&);
template Buffer<double> potential_at(const Context&, const Modes<double>&, const Particles<double>&,
                                     const GravityOptions&);
template std::array<Buffer<float>, 3> acceleration_at(const Context&, const Modes<float>&,
                                                      const Particles<float>&,
                                                      const GravityOptions&);
template std::array<Buffer<float>, 3> acceleration_at(const Context&, const Modes<float>&,
                                                      const Particles<double>&,
                                                      const GravityOptions&);
template std::array<Buffer<double>, 3> acceleration_at(const Context&, const Modes<double>&,
                                                       const Particles<float>&,
                                                       const GravityOptions&);
template std::array<Buffer<double>, 3> acceleration_at(const Context&, const Modes<double>&,
                                                       const Particles<double>&,
                                                       const GravityOptions&);
template std::array<Field<float>, 3> acceleration_fields(const Context&, const Modes<float>&,
                                                         const GravityOptions&);
template std::array<Field<double>, 3> acceleration_fields(const Context&, const Modes<double>&,
                                                          const GravityOptions&);

}  // namespace zhalo
