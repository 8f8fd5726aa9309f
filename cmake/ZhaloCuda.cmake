# Finds the CUDA toolkit (also where it is usually installed but not on PATH) and enables the language as zhalo needs it.
# Sets ZHALO_HAVE_CUDA.
set(ZHALO_HAVE_CUDA OFF CACHE INTERNAL "Whether this tree compiles kernels/cuda")
if(ZHALO_CUDA STREQUAL "OFF")
  return()
endif()

if(NOT CMAKE_CUDA_COMPILER)
  find_program(
    ZHALO_NVCC nvcc
    HINTS ENV CUDACXX ENV CUDA_HOME ENV CUDA_PATH /usr/local/cuda /opt/cuda
    PATH_SUFFIXES bin)
  mark_as_advanced(ZHALO_NVCC)
  if(ZHALO_NVCC)
    set(CMAKE_CUDA_COMPILER "${ZHALO_NVCC}" CACHE FILEPATH "CUDA compiler")
  endif()
endif()

if(CMAKE_CUDA_COMPILER)
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
    # Machine code for A100 and H100/H200; PTX for what comes after.
    set(CMAKE_CUDA_ARCHITECTURES "80-real;90" CACHE STRING "CUDA architectures")
  endif()
  enable_language(CUDA)
  include(ZhaloFindCudaToolkit)
  if(NOT TARGET CUDA::cufft)
    message(FATAL_ERROR "the CUDA toolkit has no cuFFT: install it (libcufft-dev), or configure with -DZHALO_CUDA=OFF")
  endif()
  set(ZHALO_HAVE_CUDA ON CACHE INTERNAL "Whether this tree compiles kernels/cuda")
elseif(ZHALO_CUDA STREQUAL "ON")
  message(FATAL_ERROR "ZHALO_CUDA is ON but no nvcc was found on PATH or in /usr/local/cuda/bin; install the CUDA toolkit, "
                      "set CMAKE_CUDA_COMPILER to its nvcc, or configure with -DZHALO_CUDA=OFF")
endif()
message(STATUS "CUDA backend: ${ZHALO_HAVE_CUDA}")

if(ZHALO_HAVE_CUDA)
  # CMake 3.25 drops CUDA_STANDARD 20 silently with newer nvcc, so the standard is an option here. No fused multiply-add but where the
  # text says fma: host and device must round alike.
  add_compile_options("$<$<COMPILE_LANGUAGE:CUDA>:-std=c++20;--fmad=false;-Xcompiler=-ffp-contract=off>")
endif()
