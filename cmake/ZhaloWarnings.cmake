# Warnings for our own code: errors, on every compiler. Never exported.
add_library(zhalo_warnings INTERFACE)
set(zhalo_host_warnings -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Werror)
# What nvcc hands to the host compiler is not the text as written: -Wpedantic and the conversion
# warnings would judge nvcc's. GCC 12 takes a variable of CUB's for uninitialised.
set(zhalo_cuda_warnings -Werror=all-warnings
                        -Xcompiler=-Wall,-Wextra,-Werror,-Wno-maybe-uninitialized)
# A kernel that needs more registers than there are keeps some in memory, which is slow: so far none
# does.
list(APPEND zhalo_cuda_warnings $<$<NOT:$<CONFIG:Debug>>:-Xptxas=--warn-on-spills>)
# Of what stands side by side in a unity build but not in any one file.
set(zhalo_gnu_unity_warnings "$<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>")
list(APPEND zhalo_host_warnings
     "$<$<BOOL:$<TARGET_PROPERTY:UNITY_BUILD>>:-Wno-shadow;${zhalo_gnu_unity_warnings}>")
target_compile_options(
  zhalo_warnings INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:${zhalo_host_warnings}>"
                           "$<$<COMPILE_LANGUAGE:CUDA>:${zhalo_cuda_warnings}>")
