/// Initial conditions: a Gaussian random field and the particles that it displaces.
#pragma once

#include <array>
#include <cstdint>

#include "zhalo/cosmology/cosmology.hpp"
#include "zhalo/mesh/modes.hpp"

namespace zhalo {

struct RandomFieldOptions {
  std::uint64_t seed = 1;
  /// |mode|^2 is exactly the spectrum, only phases are random (Angulo & Pontzen 2016, MNRAS 462,
  /// L1).
  bool fixed_amplitude = false;
  /// Phases turned by pi: the partner of a pair (the same).
  bool inverted = false;
};

/// Modes of a Gaussian random field with <|mode|^2> = P(k) / volume; lengths of the grid's box in
/// Mpc/h. The number that a mode gets follows from the seed and its wave vector alone
/// (Philox4x32-10 of Salmon et al. 2011, SC11, for each pair k, -k): it does not depend on ranks or
/// threads. Its phase counts from the box's corner: grids of different sizes over the same box hold
/// the same waves at the same places (and their modes, counted from the middle of cell 0, differ by
/// the factor exp(i k.h / 2), h being the sides of a cell). Mode 0 is 0, and so are those at the
/// Nyquist frequency of an axis. Made on the host. Not collective. InputError for a box without
/// lengths; OutOfMemory or DeviceError, maybe on one rank only: where others go on, wrap it in
/// Communicator::together.
template <class T>
Modes<T> random_modes(const Context& context, const Decomposition& decomposition,
                      const LinearPower& power, const RandomFieldOptions& options = {});

struct LptOptions {
  double scale_factor = 0.02;
  Expansion expansion{};
  int order = 2;  ///< 1: Zel'dovich, 2: second order
  /// What velocities are multiplied by: 1 for units of H0 times the unit of length, 100 for km/s if
  /// that is Mpc/h.
  double velocity_unit = 1;
};

/// One particle per cell of this rank, displaced from the cell's centre, in the layout of its cells
/// (x, y, z; z fastest).
template <class T>
struct LptParticles {
  std::array<Buffer<T>, 3> pos;       ///< in the box, wrapped; unit of the grid's box
  std::array<Buffer<T>, 3> velocity;  ///< peculiar, a dx/dt
  Buffer<std::uint64_t> id;  ///< place of the cell in x, y, z order over all ranks, from 1 on
};

/// x = q + D1 s1 + D2 s2, q being the centres of cells, with s1 = - grad phi1, Laplacian(phi1) =
/// delta (the linear overdensity at a = 1), s2 = grad phi2, Laplacian(phi2) = sum over i > j of
/// phi1,ii phi1,jj - phi1,ij^2 (Zel'dovich 1970, A&A 5, 84; Bouchet et al. 1995; Crocce, Pueblas &
/// Scoccimarro 2006, MNRAS 373, 369, eq. 2-9). Velocities a H (f1 D1 s1 + f2 D2 s2). Products of
/// fields are taken at the cells: waves shorter than the grid can hold appear as longer ones, as
/// they do wherever nothing is padded. Collective. InputError for another order than 1 or 2, a box
/// that is not periodic along all axes, and a universe or scale factor that growth_at() refuses;
/// OutOfMemory.
template <class T>
LptParticles<T> displace(const Context& context, const Modes<T>& linear,
                         const LptOptions& options = {});

/// s1 and s2 at the cells of this rank. Collective. InputError for a box that is not periodic along
/// all axes; OutOfMemory.
template <class T>
std::array<Field<T>, 3> first_order_displacement(const Context& context, const Modes<T>& linear);
template <class T>
std::array<Field<T>, 3> second_order_displacement(const Context& context, const Modes<T>& linear);

}  // namespace zhalo
