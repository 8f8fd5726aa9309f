# find_package(CUDAToolkit), which gives CUDA::cudart_static. CMake 3.25's module fails with CUDA 13
# in a project that requires CMake 3.25 or newer: it then marks the target CUDA::nvToolsExt as
# deprecated, which CUDA 13 no longer has.
set(zhalo_required_version "${CMAKE_MINIMUM_REQUIRED_VERSION}")
set(CMAKE_MINIMUM_REQUIRED_VERSION 3.24)
find_package(CUDAToolkit REQUIRED QUIET)
set(CMAKE_MINIMUM_REQUIRED_VERSION "${zhalo_required_version}")
