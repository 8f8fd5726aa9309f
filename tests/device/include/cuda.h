/// The part of CUDA's driver that zhalo uses, on emulated devices.
#pragma once

enum cudaError_enum { CUDA_SUCCESS = 0, CUDA_ERROR_INVALID_DEVICE = 101 };
using CUresult = cudaError_enum;
using CUdevice = int;

CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned* flags, int* is_active);
