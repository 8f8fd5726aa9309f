// Explicit instantiations of the templates of mode_kernels.hpp for the Exec that ZHALO_EXEC names
// and Real = ZHALO_REAL. No include guard.

namespace zhalo::kernels {

template void multiply_modes(const ZHALO_EXEC&, const ModesView<ZHALO_REAL>&, const AxisTables&);
template void multiply_modes_by_i(const ZHALO_EXEC&, const ModesView<ZHALO_REAL>&,
                                  const AxisTables&);
template void divide_modes_by_minus(const ZHALO_EXEC&, const ModesView<ZHALO_REAL>&,
                                    const AxisTables&);
template void smooth_modes_top_hat(const ZHALO_EXEC&, const ModesView<ZHALO_REAL>&,
                                   const AxisTables&);
template void scale_modes(const ZHALO_EXEC&, const ModesView<ZHALO_REAL>&, double);
template void add_modes(const ZHALO_EXEC&, const ModesView<ZHALO_REAL>&, Span<const ZHALO_REAL>,
                        double);
template void average_turned_modes(const ZHALO_EXEC&, const ModesView<ZHALO_REAL>&,
                                   Span<const ZHALO_REAL>, const PhaseTables&);

}  // namespace zhalo::kernels

#undef ZHALO_REAL
