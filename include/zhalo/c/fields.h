/// Painted fields for C: see zhalo/zhalo.h, which includes this.
#ifndef ZHALO_C_FIELDS_H
#define ZHALO_C_FIELDS_H

// This is C: NOLINTBEGIN(modernize-*, readability-identifier-naming)
#include <stdint.h>

#include "zhalo/c/domain.h"

#ifdef __cplusplus
extern "C" {
#endif

/// How a particle is spread over cells: the number of cells that it reaches along each axis.
enum {
  ZHALO_NGP = 1,  ///< nearest grid point
  ZHALO_CIC = 2,  ///< cloud in cell
  ZHALO_TSC = 3,  ///< triangular shaped cloud
  ZHALO_PCS = 4,  ///< piecewise cubic spline
};
/// What is added up.
enum {
  ZHALO_PAINT_MASSES = 0,
  ZHALO_PAINT_COUNTS = 1,  ///< each particle counts as 1
};
/// What the numbers of cells are.
enum {
  ZHALO_SUM = 0,          ///< the sum of what is painted
  ZHALO_MEAN_UNITS = 1,   ///< the sum divided by the mean of all cells
  ZHALO_OVERDENSITY = 2,  ///< the same minus 1
};
/// How the cells are divided among ranks.
enum {
  ZHALO_SPLIT_AUTOMATIC = 0,  ///< what suits Fourier transforms
  ZHALO_SLAB = 1,             ///< planes along x
  ZHALO_PENCIL = 2,           ///< along x and y
};

typedef struct zhalo_paint_options {
  int64_t num[3];  ///< cells along each axis of the domain's box
  int window;      ///< ZHALO_NGP, ...; 0: ZHALO_CIC
  int weights;     ///< ZHALO_PAINT_MASSES or ZHALO_PAINT_COUNTS
  int values;      ///< ZHALO_SUM, ZHALO_MEAN_UNITS or ZHALO_OVERDENSITY
  int split;       ///< ZHALO_SPLIT_AUTOMATIC, ...
  int precision;   ///< of the cells: ZHALO_DOUBLE or ZHALO_FLOAT
  int species;     ///< that is painted
} zhalo_paint_options;

/// The cells lo <= cell < hi of the whole grid, along x, y and z.
typedef struct zhalo_cells {
  int64_t lo[3];
  int64_t hi[3];
} zhalo_cells;

/// What was painted, over all ranks.
typedef struct zhalo_paint_report {
  double sum;               ///< of masses or counts
  double mean;              ///< of a cell
  double effective_number;  ///< of particles with equal masses that have the same shot noise
} zhalo_paint_report;

/// Which cells zhalo_paint() gives this rank. They may be none. Not collective. ZHALO_INPUT_ERROR
/// for a grid without cells.
int zhalo_paint_cells(const zhalo_domain* domain, const zhalo_paint_options* options,
                      zhalo_cells* cells);
/// Spreads the particles over the cells of a grid that fills the domain's box, which has three
/// dimensions and a length on each. Cell i stands for the position lo + (i + 1/2) length / num. The
/// values of this rank's cells are written to `values`: the cell (x, y, z) at
/// ((x - lo[0]) * (hi[1] - lo[1]) + y - lo[1]) * (hi[2] - lo[2]) + z - lo[2]. `report` may be null.
/// Collective. ZHALO_INPUT_ERROR for such a box or grid, for options that differ between ranks, and
/// for units of the mean if the mean is not more than 0.
int zhalo_paint(const zhalo_domain* domain, const zhalo_paint_options* options, void* values,
                int64_t room, zhalo_paint_report* report);

/// How the effect of the window on a spectrum is removed.
enum {
  ZHALO_COMPENSATE_AUTOMATIC = 0,  ///< the window if interlaced, else the shot noise
  ZHALO_COMPENSATE_NONE = 1,
  /// Modes are divided by the transform of the window: Jing (2005), eq. 18.
  ZHALO_COMPENSATE_WINDOW = 2,
  /// Shot noise becomes flat: Jing (2005), eq. 20.
  ZHALO_COMPENSATE_SHOT_NOISE = 3,
};

typedef struct zhalo_power_options {
  int64_t num[3];     ///< cells along each axis of the domain's box
  int window;         ///< ZHALO_NGP, ...; 0: ZHALO_CIC
  int weights;        ///< ZHALO_PAINT_MASSES or ZHALO_PAINT_COUNTS
  int is_interlaced;  ///< painted twice, half a cell apart, which cancels the nearest aliases
  int compensation;   ///< ZHALO_COMPENSATE_AUTOMATIC, ...
  int precision;      ///< of the modes: ZHALO_DOUBLE or ZHALO_FLOAT
  int species;        ///< that is painted
} zhalo_power_options;

/// The modes with k_lo <= k < k_hi. k and -k count as two; k = 0 is left out.
typedef struct zhalo_power_bin {
  double k_lo;
  double k_hi;
  double k_mean;  ///< of the modes; the middle of the bin if there are none
  double power;   ///< volume times the mean square of the overdensity's modes; NaN without modes
  int64_t num_modes;
} zhalo_power_bin;

typedef struct zhalo_power_report {
  int64_t num_bins;
  /// Of particles at random positions. The powers include it, with ZHALO_COMPENSATE_AUTOMATIC as it
  /// is (but for interlaced NGP), else times a function of k.
  double shot_noise;
  double nyquist;  ///< end of the last bin
} zhalo_power_report;

/// Measures the power spectrum of the overdensity of all particles, in bins of one fundamental
/// (2 pi over the longest length) up to the Nyquist frequency. The box has three periodic
/// dimensions. `bins` has room for `room` bins: half of the largest number of cells of an axis is
/// enough. All ranks get the same bins, which other numbers of ranks and devices round otherwise.
/// `report` may be null. Collective. ZHALO_INPUT_ERROR for such a
/// box, grid or room, and for options that differ between ranks.
int zhalo_power_spectrum(const zhalo_domain* domain, const zhalo_power_options* options,
                         zhalo_power_bin* bins, int64_t room, zhalo_power_report* report);

#ifdef __cplusplus
}
#endif
// NOLINTEND(modernize-*, readability-identifier-naming)

#endif
