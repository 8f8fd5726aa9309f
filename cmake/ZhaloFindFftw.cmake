# Gives the imported targets FFTW3::double and FFTW3::float, or the names of what is missing in
# zhalo_fftw_missing. FFTW's own package files are missing or broken in many distributions.
set(zhalo_fftw_missing "")
foreach(zhalo_precision IN ITEMS double float)
  if(TARGET FFTW3::${zhalo_precision})
    continue()
  endif()
  set(zhalo_fftw_name fftw3)
  if(zhalo_precision STREQUAL "float")
    set(zhalo_fftw_name fftw3f)
  endif()
  string(TOUPPER ${zhalo_fftw_name} zhalo_fftw_prefix)
  find_path(FFTW3_INCLUDE_DIR fftw3.h HINTS "${FFTW_ROOT}" ENV FFTW_ROOT ENV FFTW_DIR PATH_SUFFIXES include)
  find_library(${zhalo_fftw_prefix}_LIBRARY ${zhalo_fftw_name} HINTS "${FFTW_ROOT}" ENV FFTW_ROOT ENV FFTW_DIR
               PATH_SUFFIXES lib lib64)
  mark_as_advanced(FFTW3_INCLUDE_DIR ${zhalo_fftw_prefix}_LIBRARY)
  if(NOT FFTW3_INCLUDE_DIR OR NOT ${zhalo_fftw_prefix}_LIBRARY)
    list(APPEND zhalo_fftw_missing ${zhalo_fftw_name})
    continue()
  endif()
  add_library(FFTW3::${zhalo_precision} UNKNOWN IMPORTED)
  set_target_properties(
    FFTW3::${zhalo_precision} PROPERTIES IMPORTED_LOCATION "${${zhalo_fftw_prefix}_LIBRARY}"
                                         INTERFACE_INCLUDE_DIRECTORIES "${FFTW3_INCLUDE_DIR}")
endforeach()
list(JOIN zhalo_fftw_missing " and " zhalo_fftw_missing)
