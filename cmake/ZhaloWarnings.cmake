# Warnings for our own code: errors, on every compiler. Never exported.
add_library(zhalo_warnings INTERFACE)
set(zhalo_host_warnings -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Werror)
# What nvcc hands to the host compiler is not the text as written: -Wpedantic and the conversion warnings would judge nvcc's.
set(zhalo_cuda_warnings -Werror=all-warnings -Xcompiler=-Wall,-Wextra,-Werror)
target_compile_options(
  zhalo_warnings INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:${zhalo_host_warnings}>"
                           "$<$<COMPILE_LANGUAGE:CUDA>:${zhalo_cuda_warnings}>")
