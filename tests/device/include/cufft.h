/// The part of cuFFT that zhalo uses, on emulated devices: many transforms at once, each in one to
/// three dimensions, by FFTW. The names and numbers are cuFFT's.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

enum cufftResult {
  CUFFT_SUCCESS = 0,
  CUFFT_INVALID_PLAN = 1,
  CUFFT_ALLOC_FAILED = 2,
  CUFFT_INVALID_VALUE = 4,
  CUFFT_EXEC_FAILED = 6,
  CUFFT_INVALID_SIZE = 8,
  CUFFT_NOT_SUPPORTED = 16
};

enum cufftType {
  CUFFT_C2C = 0x29,
  CUFFT_R2C = 0x2a,
  CUFFT_C2R = 0x2c,
  CUFFT_Z2Z = 0x69,
  CUFFT_D2Z = 0x6a,
  CUFFT_Z2D = 0x6c
};

#define CUFFT_FORWARD -1
#define CUFFT_INVERSE 1

struct cufftComplex {
  float x;
  float y;
};
struct cufftDoubleComplex {
  double x;
  double y;
};

using cufftHandle = int;

cufftResult cufftCreate(cufftHandle* plan);
cufftResult cufftDestroy(cufftHandle plan);
cufftResult cufftSetAutoAllocation(cufftHandle plan, int automatic);
cufftResult cufftSetStream(cufftHandle plan, cudaStream_t stream);
cufftResult cufftSetWorkArea(cufftHandle plan, void* area);
cufftResult cufftMakePlanMany64(cufftHandle plan, int rank, long long* length, long long* in_embed,
                                long long in_stride, long long in_distance, long long* out_embed,
                                long long out_stride, long long out_distance, cufftType type,
                                long long num, std::size_t* work_bytes);

cufftResult cufftExecC2C(cufftHandle plan, cufftComplex* in, cufftComplex* out, int sign);
cufftResult cufftExecR2C(cufftHandle plan, float* in, cufftComplex* out);
cufftResult cufftExecC2R(cufftHandle plan, cufftComplex* in, float* out);
cufftResult cufftExecZ2Z(cufftHandle plan, cufftDoubleComplex* in, cufftDoubleComplex* out,
                         int sign);
cufftResult cufftExecD2Z(cufftHandle plan, double* in, cufftDoubleComplex* out);
cufftResult cufftExecZ2D(cufftHandle plan, cufftDoubleComplex* in, double* out);
