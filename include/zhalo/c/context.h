/// Statuses, contexts and memory for C: see zhalo/zhalo.h, which includes this.
#ifndef ZHALO_C_CONTEXT_H
#define ZHALO_C_CONTEXT_H

// This is C: NOLINTBEGIN(modernize-*, readability-identifier-naming)
#include <mpi.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// ---- Version ----------------------------------------------------------------------------------

/// Of this header. Structs may grow with a new minor version: compile again all that declares them.
#define ZHALO_VERSION_MAJOR 0
#define ZHALO_VERSION_MINOR 1
#define ZHALO_VERSION_PATCH 0

/// The version of the library that runs. Never fails, and a null pointer is skipped.
void zhalo_get_version(int* major, int* minor, int* patch);

// ---- Errors -------------------------------------------------------------------------------------

/// The status of a call.
enum {
  ZHALO_OK = 0,
  ZHALO_INPUT_ERROR = 1,    ///< values or options that cannot be used as given
  ZHALO_OUT_OF_MEMORY = 2,  ///< the message says how much was needed, and for what
  ZHALO_DEVICE_ERROR = 3,   ///< a device is missing or failed
  /// Ranks are lost, or MPI failed. The context refuses everything from then on, unless the error
  /// is one that zhalo_context_agree was given. Other ranks may have another status, or none yet.
  ZHALO_COMMUNICATION_ERROR = 4,
  ZHALO_FILE_ERROR = 5,   ///< reading or writing a file failed
  ZHALO_OTHER_ERROR = 6,  ///< anything else, such as a bug of zhalo
};

/// The message of this thread's last call that returns a status: what is wrong, on which rank, and
/// what to do. Empty if that call succeeded. Never null. Valid until the thread's next call of
/// zhalo.
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
  /// Points to the number of the CUDA device, which asks for a device as ZHALO_CUDA does. Null: the
  /// ranks of a machine take devices in turn.
  const int* device;
  /// Longest wait for other ranks, in seconds. After that they are lost: ZHALO_COMMUNICATION_ERROR.
  /// 0: the environment variable ZHALO_TIMEOUT, else half an hour. Negative: no limit. MPI makes
  /// the duplicate of the communicator, for which zhalo_context_create waits without a limit.
  double timeout_seconds;
  /// The caller's CUDA stream (a cudaStream_t) of `device`, which must be named. All work on the
  /// device is queued there: zhalo begins after what the caller has queued there before, and waits
  /// for the stream before a call returns. The caller owns the stream, which must outlive the
  /// context and all handles made with it. Null: the default stream.
  void* stream;
} zhalo_context_options;

/// Makes a context of all ranks of `comm`. Collective. The caller has initialised MPI. zhalo talks
/// on a duplicate of the communicator, and ends neither MPI nor the process. `*context` is null
/// after an error. ZHALO_INPUT_ERROR if MPI is not initialised, `comm` is MPI_COMM_NULL, an option
/// makes no sense, a device is named for ZHALO_HOST, or a stream is given without its device;
/// ZHALO_DEVICE_ERROR if a device was asked for and cannot be used.
int zhalo_context_create(MPI_Comm comm, const zhalo_context_options* options,
                         zhalo_context** context);
/// The same for the handle of a communicator in Fortran: an INTEGER, or the member MPI_VAL of
/// mpi_f08.
int zhalo_context_create_f(MPI_Fint comm, const zhalo_context_options* options,
                           zhalo_context** context);
/// A context of one rank that makes no MPI call, so that MPI need not be initialised.
int zhalo_context_create_alone(const zhalo_context_options* options, zhalo_context** context);
/// Makes an error that a caller found on one rank an error of all ranks, for wrappers in other
/// languages. `status` is that of the error, and has no meaning where `error` is null. ZHALO_OK if
/// `error` is null on all ranks. Else the status and the message are those of the lowest rank that
/// gives an error, and the message has its number. ZHALO_INPUT_ERROR for a status that is not that
/// of an error. Collective.
int zhalo_context_agree(const zhalo_context* context, int status, const char* error);
/// Copies a text that some ranks give to all of them, for such wrappers: that of the lowest rank
/// whose `text` is not null, and an empty one if there is none. `shared` has room for `room` bytes,
/// the 0 behind the text among them. Collective.
int zhalo_context_share(const zhalo_context* context, const char* text, char* shared, int64_t room);
/// Whether the context computes on a device (1) or on the host (0). Not collective.
int zhalo_context_is_on_device(const zhalo_context* context, int* is_on_device);
/// Null is allowed. Collective where this is the last handle that uses the context.
void zhalo_context_destroy(zhalo_context* context);

// ---- Memory -------------------------------------------------------------------------------------

/// Bytes of this rank's memory that zhalo works with: of the device, or of the host. A rank's
/// handles and small tables are not counted.
typedef struct zhalo_memory_counts {
  int64_t in_use;     ///< by results, and by domains that are not destroyed or have results
  int64_t peak;       ///< the most that was in use
  int64_t held;       ///< taken from the system: in use, or kept for later calls
  int64_t peak_held;  ///< the most that was held
  int64_t available;  ///< that can still be taken: what the system has, and what is kept
} zhalo_memory_counts;

/// Not collective.
int zhalo_context_get_memory(const zhalo_context* context, zhalo_memory_counts* counts);
/// Sets `peak` to `in_use`, and `peak_held` to `held`. Not collective.
int zhalo_context_reset_peak_memory(const zhalo_context* context);
/// Gives the memory that is kept for later calls back to the system, but for up to 128 MiB per rank
/// through which messages of devices go. Results stay. The next call takes memory anew, which needs
/// time. Not collective.
int zhalo_context_release_memory(const zhalo_context* context);

#ifdef __cplusplus
}
#endif
// NOLINTEND(modernize-*, readability-identifier-naming)

#endif
