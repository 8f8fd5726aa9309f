# Gives the imported target Cairo::cairo and sets zhalo_have_cairo if there is cairo, which draws
# pictures.
find_path(CAIRO_INCLUDE_DIR cairo.h HINTS "${CAIRO_ROOT}" ENV CAIRO_ROOT PATH_SUFFIXES cairo include/cairo)
find_library(CAIRO_LIBRARY cairo HINTS "${CAIRO_ROOT}" ENV CAIRO_ROOT PATH_SUFFIXES lib lib64)
mark_as_advanced(CAIRO_INCLUDE_DIR CAIRO_LIBRARY)
set(zhalo_have_cairo FALSE)
if(CAIRO_INCLUDE_DIR AND CAIRO_LIBRARY)
  set(zhalo_have_cairo TRUE)
  if(NOT TARGET Cairo::cairo)
    add_library(Cairo::cairo UNKNOWN IMPORTED)
    set_target_properties(
      Cairo::cairo PROPERTIES IMPORTED_LOCATION "${CAIRO_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES
                                                                   "${CAIRO_INCLUDE_DIR}")
  endif()
endif()
