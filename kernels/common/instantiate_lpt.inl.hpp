// Explicit instantiations of the templates of lpt_kernels.hpp, for the Exec that ZHALO_EXEC names.
// No include guard.

namespace zhalo::kernels {

template void multiply(const ZHALO_EXEC&, Span<const float>, Span<const float>, Span<float>);
template void multiply(const ZHALO_EXEC&, Span<const double>, Span<const double>, Span<double>);
template void add_product(const ZHALO_EXEC&, Span<const float>, Span<const float>, float,
                          Span<float>);
template void add_product(const ZHALO_EXEC&, Span<const double>, Span<const double>, double,
                          Span<double>);
template void add_values(const ZHALO_EXEC&, Span<const float>, Span<float>);
template void add_values(const ZHALO_EXEC&, Span<const double>, Span<double>);
template void displace_axis(const ZHALO_EXEC&, const DisplacedAxis<float>&);
template void displace_axis(const ZHALO_EXEC&, const DisplacedAxis<double>&);
template void number_cells(const ZHALO_EXEC&, const CellBlock&, const Vec<Index, 3>&,
                           Span<std::uint64_t>);

}  // namespace zhalo::kernels
