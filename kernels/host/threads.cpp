// Where OpenMP runs the threads of loops.
#include "kernels/threads.hpp"

#include <cstddef>

#ifndef ZHALO_STD_THREADS
#include <omp.h>
#endif

namespace zhalo::kernels {

std::vector<int> cores_of_bound_threads() {
  std::vector<int> cores;
#ifndef ZHALO_STD_THREADS
  if (omp_get_proc_bind() == omp_proc_bind_false) return cores;
  for (int place = 0; place < omp_get_num_places(); ++place) {
    std::vector<int> of_place(static_cast<std::size_t>(omp_get_place_num_procs(place)));
    omp_get_place_proc_ids(place, of_place.data());
    cores.insert(cores.end(), of_place.begin(), of_place.end());
  }
#endif
  return cores;
}

}  // namespace zhalo::kernels
