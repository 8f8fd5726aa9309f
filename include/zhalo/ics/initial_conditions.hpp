/// Initial conditions: a Gaussian random field and the particles that it displaces.
#pragma once

#include <array>
#include <cstdint>

#include "zhalo/cosmology/cosmology.hpp"
#include "zhalo/mesh/modes.hpp"

namespace zhalo {

struct RandomFieldOptions {
  std::uint64_t seed = 1;
  /// If true, |mode|^2 is exactly the spectrum, and only phases are random (Angulo & Pontzen 2016,
  /// MNRAS 462, L1).
  bool fixed_amplitude = false;
  /// If true, all phases are turned by pi, which makes the partner of a pair (the same paper).
  bool inverted = false;
};

/// Modes of a Gaussian random field with <|mode|^2> = P(k) / volume. Lengths of the grid's box are
/// in Mpc/h. Mode 0 is 0, and so are modes at the Nyquist frequency of an axis.
///
/// The random number of a mode follows from the seed and the wave vector alone (Philox4x32-10 of
/// Salmon et al. 2011, SC11, for each pair k, -k). It does not depend on ranks or threads. Its
/// phase counts from the corner of the box. So grids of different sizes over the same box contain
/// the same waves at the same positions. Modes themselves count phases from the middle of cell 0.
/// This adds the factor exp(i k.h / 2), where h are the sides of a cell.
///
/// Equal bit for bit on the host and on a device, whatever their mathematical libraries: the
/// functions that make a mode are zhalo's own. Not collective. On a device the work is queued.
/// InputError for a box without lengths, for 2^32 cells or more along an axis, and for a spectrum
/// that is too large for T at the smallest or largest k of the grid, as it may be beyond its table.
/// OutOfMemory or DeviceError may be thrown on one rank only: if other ranks go on, run it in
/// Communicator::together.
template <class T>
Modes<T> random_modes(const Context& context, const Decomposition& decomposition,
                      const LinearPower& power, const RandomFieldOptions& options = {});

struct LptOptions {
  double scale_factor = 0.02;
  Expansion expansion{};
  int order = 2;  ///< 1: Zel'dovich, 2: second order
  /// Velocities are multiplied by this: 1 for units of H0 times the unit of length, 100 for km/s if
  /// that unit is Mpc/h.
  double velocity_unit = 1;
};

/// One particle per cell of this rank, displaced from the centre of the cell. Particles are in the
/// order of the rank's cells (x, y, z; z fastest), in memory of the context's Exec.
template <class T>
struct LptParticles {
  /// Wrapped into the box, in the unit of the grid's box. NaN where the displacement is not finite.
  std::array<Buffer<T>, 3> pos;
  std::array<Buffer<T>, 3> velocity;  ///< peculiar, a dx/dt
  /// Index of the cell in x, y, z order over all ranks, counted from 1.
  Buffer<std::uint64_t> id;
};

/// Displaces particles from the centres q of cells by Lagrangian perturbation theory:
///   x = q + D1 s1 + D2 s2,  v = a H (f1 D1 s1 + f2 D2 s2)
///   s1 = - grad phi1,  Laplacian(phi1) = delta, the linear overdensity at a = 1 (`linear`)
///   s2 = + grad phi2,  Laplacian(phi2) = sum over i > j of phi1,ii phi1,jj - phi1,ij^2
/// Sources: Zel'dovich 1970, A&A 5, 84; Bouchet et al. 1995; Crocce, Pueblas & Scoccimarro 2006,
/// MNRAS 373, 369, eq. 2-9.
///
/// Products of fields are taken at the cells, without padding. So waves shorter than the grid can
/// hold are aliased to longer ones. Collective. InputError for an order other than 1 or 2, a box
/// that is not periodic along all axes, a universe or scale factor that growth_at() refuses, and
/// options that differ between ranks; OutOfMemory.
template <class T>
LptParticles<T> displace(const Context& context, const Modes<T>& linear,
                         const LptOptions& options = {});

/// s1 and s2 of displace(), at the cells of this rank. Collective. InputError for a box that is not
/// periodic along all axes; OutOfMemory.
template <class T>
std::array<Field<T>, 3> first_order_displacement(const Context& context, const Modes<T>& linear);
template <class T>
std::array<Field<T>, 3> second_order_displacement(const Context& context, const Modes<T>& linear);

}  // namespace zhalo
