/// zhalo for C, and for Fortran, Python and other languages that call C: domains, groups,
/// catalogues, neighbours and painted fields. docs/c.md has an example.
///
/// - Every function returns a status: ZHALO_OK (0), or the kind of error. zhalo_last_error() then
///   has the message. No C++ exception leaves the library.
/// - A function that is collective must be called by all ranks of the context's communicator, in
///   the same order and with the same options. It returns the same status on all ranks. (A null
///   handle on one rank alone cannot be told to the others: they wait until the timeout.)
/// - Handles are pointers to types that only zhalo knows. Their owner is the caller, who ends each
///   with its destroy function. Handles may be destroyed in any order, because each keeps what it
///   needs of the others. All must be destroyed before MPI_Finalize.
/// - A struct of options or particles with all bytes 0 has the defaults. Set it to zero first, as
///   `= {0}` does, and then set what should differ. For options, a null pointer means defaults (but
///   not for painting, which needs a grid).
/// - Arrays for results are the caller's. `room` is the number of elements that an array has room
///   for; too little room is ZHALO_INPUT_ERROR. Arrays are in host memory. With a context on a
///   device they may also be in memory of that device.
/// - Lengths are in the unit of the positions, masses and velocities in the unit in which they were
///   given. The global index of a particle is its place in the order of ranks, and on a rank in the
///   order in which the rank gave its particles, from 0. Groups and neighbours are named by it.
/// - Results are equal bit for bit for any number of ranks and threads, on host and device.
#ifndef ZHALO_ZHALO_H
#define ZHALO_ZHALO_H

// This is C: NOLINTBEGIN(modernize-*, readability-identifier-naming)
#include <mpi.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// ---- Errors -------------------------------------------------------------------------------------

/// The status of a call.
enum {
  ZHALO_OK = 0,
  ZHALO_INPUT_ERROR = 1,    ///< values or options that cannot be used as given
  ZHALO_OUT_OF_MEMORY = 2,  ///< the message says how much was needed, and for what
  ZHALO_DEVICE_ERROR = 3,   ///< a device is missing or failed
  /// Ranks are lost, or MPI failed. The context refuses everything from then on. Other ranks may
  /// have another status, or none yet.
  ZHALO_COMMUNICATION_ERROR = 4,
  ZHALO_FILE_ERROR = 5,   ///< reading or writing a file failed
  ZHALO_OTHER_ERROR = 6,  ///< anything else, such as a bug of zhalo
};

/// The message of the last call of this thread: what is wrong, on which rank, and what to do. Empty
/// if that call succeeded. Never null. Valid until the thread's next call of zhalo.
const char* zhalo_last_error(void);

// ---- Context ------------------------------------------------------------------------------------

/// The ranks, and the processor on which each of them computes. Make one and keep it: it keeps the
/// memory of a call for the next one. Make one call at a time for each context.
typedef struct zhalo_context zhalo_context;

/// Where a context computes.
enum {
  ZHALO_AUTOMATIC = 0,  ///< a CUDA device if the rank sees one, else the host
  ZHALO_HOST = 1,
  ZHALO_CUDA = 2,
};

typedef struct zhalo_context_options {
  int processor;  ///< ZHALO_AUTOMATIC, ZHALO_HOST or ZHALO_CUDA
  /// Threads of the host. 0: OMP_NUM_THREADS if it is set, else this rank's fair share of the
  /// cores.
  int threads;
  /// Points to the number of the CUDA device. Null: the ranks of a machine take devices in turn.
  const int* device;
  /// Longest wait for other ranks, in seconds. After that they are lost: ZHALO_COMMUNICATION_ERROR.
  /// 0: the environment variable ZHALO_TIMEOUT, else half an hour. Negative: no limit.
  double timeout_seconds;
} zhalo_context_options;

/// Makes a context of all ranks of `comm`. Collective. The caller has initialised MPI. zhalo talks
/// on a duplicate of the communicator, and ends neither MPI nor the process. `*context` is null
/// after an error. ZHALO_INPUT_ERROR if MPI is not initialised, `comm` is MPI_COMM_NULL, or an
/// option makes no sense; ZHALO_DEVICE_ERROR if a device was asked for and cannot be used.
int zhalo_context_create(MPI_Comm comm, const zhalo_context_options* options,
                         zhalo_context** context);
/// The same for the handle of a communicator in Fortran: an INTEGER, or the member MPI_VAL of
/// mpi_f08.
int zhalo_context_create_f(MPI_Fint comm, const zhalo_context_options* options,
                           zhalo_context** context);
/// A context of one rank that makes no MPI call, so that MPI need not be initialised.
int zhalo_context_create_alone(const zhalo_context_options* options, zhalo_context** context);
/// Whether the context computes on a device (1) or on the host (0). Not collective.
int zhalo_context_is_on_device(const zhalo_context* context, int* is_on_device);
/// Null is allowed. Collective where this is the last handle that uses the context.
void zhalo_context_destroy(zhalo_context* context);

// ---- Domain -------------------------------------------------------------------------------------

/// The type of numbers.
enum {
  ZHALO_DOUBLE = 0,
  ZHALO_FLOAT = 1,
};

/// One number of each particle, in the caller's memory.
typedef struct zhalo_column {
  const void* data;      ///< that of the first particle; null: there is no such column
  int64_t stride_bytes;  ///< from one particle to the next; 0: no gaps
  int precision;         ///< ZHALO_DOUBLE or ZHALO_FLOAT
} zhalo_column;

/// The box [lo, lo + length). Each axis is periodic (not 0) or not. A periodic axis has a length,
/// and particles outside it are wrapped into it. On another axis, a length > 0 bounds the
/// particles, and particles outside are an error; with length 0 there are no bounds.
typedef struct zhalo_box {
  double lo[3];
  double length[3];
  int periodic[3];
} zhalo_box;

/// The particles of this rank, where they are: zhalo is told addresses and copies only what it
/// sorts. It does not change them. A rank may have none.
typedef struct zhalo_particles {
  int64_t num;
  int dimensions;            ///< 2 or 3, the same on all ranks; 0: 3
  zhalo_column position[3];  ///< per axis, all of one precision, the same on all ranks
  zhalo_column velocity[3];  ///< per axis, or none
  zhalo_column mass;         ///< or none: then each has uniform_mass
  double uniform_mass;       ///< 0: 1
  /// Whether the columns are in memory of the context's device (1) or of the host (0). In the first
  /// case, writes to them must be complete. If the columns are on the host and the context computes
  /// on a device, they are copied there for the time of the call.
  int is_on_device;
} zhalo_particles;

/// Sets `dimensions` columns, one per axis, to the columns of an array of rows: (num, dimensions)
/// numbers, row by row. In Fortran this is an array (dimensions, num).
int zhalo_set_rows(zhalo_column* columns, const void* rows, int precision, int dimensions);

/// The particles of all ranks, sorted once along a space-filling curve and divided evenly, for any
/// number of searches. It has a copy of what it needs: the caller's particles may change after it
/// was made, and do not change the domain.
typedef struct zhalo_domain zhalo_domain;

/// Sorts the particles of all ranks into a domain. Collective. `*domain` is null after an error.
/// ZHALO_INPUT_ERROR for positions that are not finite or lie outside an axis that is not periodic
/// (the message has their number and the first global index), for a box that makes no sense, and
/// for dimensions, precisions or boxes that differ between ranks.
int zhalo_domain_create(const zhalo_context* context, const zhalo_particles* particles,
                        const zhalo_box* box, zhalo_domain** domain);

typedef struct zhalo_domain_counts {
  int64_t num;          ///< particles that this rank gave
  int64_t num_total;    ///< over all ranks
  int64_t num_wrapped;  ///< over all ranks: those that were outside a periodic axis
} zhalo_domain_counts;

/// Not collective.
int zhalo_domain_get_counts(const zhalo_domain* domain, zhalo_domain_counts* counts);
/// Null is allowed.
void zhalo_domain_destroy(zhalo_domain* domain);

// ---- Friends of friends -------------------------------------------------------------------------

/// The friends-of-friends groups of a domain.
typedef struct zhalo_groups zhalo_groups;

/// Finds the groups: two particles at distance r <= linking_length are friends, and all that are
/// joined by friends are one group. Collective. `*groups` is null after an error. ZHALO_INPUT_ERROR
/// unless the linking length is positive, at most half of a periodic axis, and the same on all
/// ranks.
int zhalo_find_groups(const zhalo_domain* domain, double linking_length, zhalo_groups** groups);
/// Copies the label of each particle that this rank gave, in the order in which it gave them: the
/// smallest global index in the particle's group. Collective.
int zhalo_groups_get_labels(const zhalo_groups* groups, int64_t* labels, int64_t room);
/// Null is allowed.
void zhalo_groups_destroy(zhalo_groups* groups);

// ---- Catalogue ----------------------------------------------------------------------------------

/// A table with one row per group of some size. Rows are in one order over all ranks: larger groups
/// first, then smaller labels. Each rank has an equal share of consecutive rows.
typedef struct zhalo_catalogue zhalo_catalogue;

/// Makes the table of the groups with at least `min_members` members. Collective. `*catalogue` is
/// null after an error. ZHALO_INPUT_ERROR for min_members < 1 or different on ranks, and for masses
/// that are not positive and finite.
int zhalo_make_catalogue(const zhalo_groups* groups, int64_t min_members,
                         zhalo_catalogue** catalogue);

typedef struct zhalo_catalogue_counts {
  int64_t num_groups;         ///< rows on this rank
  int64_t num_groups_total;   ///< over all ranks
  int64_t first_group;        ///< row number of this rank's first row, over all ranks
  int64_t num_members;        ///< members on this rank, see zhalo_catalogue_get_members
  int64_t num_members_total;  ///< over all groups and ranks
  int64_t first_member;       ///< index of this rank's first member in the order of all
  int has_velocities;         ///< whether all particles have velocities; else those of rows are NaN
  uint64_t checksum;          ///< of all rows and members: the same for the same catalogue
} zhalo_catalogue_counts;

/// Not collective.
int zhalo_catalogue_get_counts(const zhalo_catalogue* catalogue, zhalo_catalogue_counts* counts);

// Columns of this rank's rows: num_groups elements, or num_groups rows of three numbers (the third
// is 0 in two dimensions). Not collective.

/// The number of members.
int zhalo_catalogue_get_lengths(const zhalo_catalogue* catalogue, int64_t* lengths, int64_t room);
/// The smallest global index in the group.
int zhalo_catalogue_get_labels(const zhalo_catalogue* catalogue, int64_t* labels, int64_t room);
/// The place of the group's first member in the order of all members of all ranks.
int zhalo_catalogue_get_offsets(const zhalo_catalogue* catalogue, int64_t* offsets, int64_t room);
/// The mass of all members.
int zhalo_catalogue_get_masses(const zhalo_catalogue* catalogue, double* masses, int64_t room);
/// The centre of mass, inside the box: three numbers a row, so that room is at least 3 num_groups.
int zhalo_catalogue_get_centres(const zhalo_catalogue* catalogue, double* centres, int64_t room);
/// The mean velocity, weighted by mass: three numbers a row.
int zhalo_catalogue_get_velocities(const zhalo_catalogue* catalogue, double* velocities,
                                   int64_t room);
/// The mass-weighted dispersion of velocities along one axis.
int zhalo_catalogue_get_velocity_dispersions(const zhalo_catalogue* catalogue, double* dispersions,
                                             int64_t room);
/// The mass-weighted rms distance of the members from the centre.
int zhalo_catalogue_get_rms_radii(const zhalo_catalogue* catalogue, double* radii, int64_t room);
/// The largest distance of a member from the centre.
int zhalo_catalogue_get_max_radii(const zhalo_catalogue* catalogue, double* radii, int64_t room);

/// Copies the global indices of members, group by group: num_members elements. Members are in equal
/// shares over the ranks, so that a group may continue on the next rank. Not collective.
int zhalo_catalogue_get_members(const zhalo_catalogue* catalogue, int64_t* members, int64_t room);
/// Copies, for each particle that this rank gave, the row of its group over all ranks, or -1 if it
/// is in no group of the table. Collective.
int zhalo_catalogue_get_group_of_particles(const zhalo_catalogue* catalogue, int64_t* rows,
                                           int64_t room);
/// Null is allowed.
void zhalo_catalogue_destroy(zhalo_catalogue* catalogue);

// ---- Neighbours ---------------------------------------------------------------------------------

/// The k nearest neighbours of each particle.
typedef struct zhalo_neighbours zhalo_neighbours;

typedef struct zhalo_neighbour_options {
  int k;             ///< neighbours per particle, 1 to 4096; 0: 8
  int exclude_self;  ///< 0: each particle is its own first neighbour, at distance 0
  /// Only neighbours at distances up to this one; 0: any distance.
  double max_radius;
} zhalo_neighbour_options;

/// Finds the k nearest particles of each particle, exactly. Collective. `*neighbours` is null after
/// an error. ZHALO_INPUT_ERROR for options out of range or different on ranks.
int zhalo_find_neighbours(const zhalo_domain* domain, const zhalo_neighbour_options* options,
                          zhalo_neighbours** neighbours);
/// Copies (num, k) distances, in the order in which this rank gave its particles, nearest first.
/// `precision` says what `distances` points to, and must be that of the positions. Rows with fewer
/// than k neighbours end with infinity. Collective.
int zhalo_neighbours_get_distances(const zhalo_neighbours* neighbours, int precision,
                                   void* distances, int64_t room);
/// Copies (num, k) global indices of the neighbours. Equal distances are in the order of indices.
/// Rows with fewer than k neighbours end with -1. Collective.
int zhalo_neighbours_get_indices(const zhalo_neighbours* neighbours, int64_t* indices,
                                 int64_t room);
/// Null is allowed.
void zhalo_neighbours_destroy(zhalo_neighbours* neighbours);

// ---- Fields -------------------------------------------------------------------------------------

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

#ifdef __cplusplus
}
#endif
// NOLINTEND(modernize-*, readability-identifier-naming)

#endif
