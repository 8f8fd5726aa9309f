! haloes_fortran: groups from Fortran (docs/c.md).

! [interface]
! What this program uses of zhalo/zhalo.h. A struct is a derived type with the same members in the
! same order. Members that are not set have the defaults of zhalo: 0 and null.
module zhalo
  use, intrinsic :: iso_c_binding
  implicit none

  type, bind(c) :: zhalo_context_options
    integer(c_int) :: processor = 0
    integer(c_int) :: threads = 0
    type(c_ptr) :: device = c_null_ptr
    real(c_double) :: timeout_seconds = 0
    type(c_ptr) :: stream = c_null_ptr
  end type

  type, bind(c) :: zhalo_column
    type(c_ptr) :: data = c_null_ptr
    integer(c_int64_t) :: stride_bytes = 0
    integer(c_int) :: precision = 0
  end type

  type, bind(c) :: zhalo_box
    real(c_double) :: lo(3) = 0, length(3) = 0
    integer(c_int) :: periodic(3) = 0
  end type

  type, bind(c) :: zhalo_particles
    integer(c_int64_t) :: num = 0
    integer(c_int) :: dimensions = 0
    type(zhalo_column) :: position(3), velocity(3), mass
    real(c_double) :: uniform_mass = 0
    type(zhalo_column) :: type
    integer(c_int) :: uniform_type = 0
    integer(c_int) :: is_on_device = 0
  end type

  interface
    integer(c_int) function zhalo_context_create_f(comm, options, context) bind(c)
      import
      integer(c_int), value :: comm
      type(zhalo_context_options), intent(in) :: options
      type(c_ptr), intent(out) :: context
    end function
    integer(c_int) function zhalo_set_rows(columns, rows, precision, dimensions) bind(c)
      import
      type(zhalo_column), intent(inout) :: columns(*)
      type(c_ptr), value :: rows
      integer(c_int), value :: precision, dimensions
    end function
    integer(c_int) function zhalo_domain_create(context, species, num_species, box, &
                                                 options, domain) bind(c)
      import
      type(c_ptr), value :: context
      type(zhalo_particles), intent(in) :: species(*)
      integer(c_int), value :: num_species
      type(zhalo_box), intent(in) :: box
      type(c_ptr), value :: options
      type(c_ptr), intent(out) :: domain
    end function
    integer(c_int) function zhalo_find_groups(domain, linking_length, groups) bind(c)
      import
      type(c_ptr), value :: domain
      real(c_double), value :: linking_length
      type(c_ptr), intent(out) :: groups
    end function
    integer(c_int) function zhalo_groups_get_labels(groups, species, labels, room) bind(c)
      import
      type(c_ptr), value :: groups
      integer(c_int), value :: species
      integer(c_int64_t), intent(out) :: labels(*)
      integer(c_int64_t), value :: room
    end function
    subroutine zhalo_groups_destroy(groups) bind(c)
      import
      type(c_ptr), value :: groups
    end subroutine
    subroutine zhalo_domain_destroy(domain) bind(c)
      import
      type(c_ptr), value :: domain
    end subroutine
    subroutine zhalo_context_destroy(context) bind(c)
      import
      type(c_ptr), value :: context
    end subroutine
    type(c_ptr) function zhalo_last_error() bind(c)
      import
    end function
    integer(c_size_t) function strlen(text) bind(c)
      import
      type(c_ptr), value :: text
    end function
  end interface

contains

  function error_message() result(message)
    character(len=:), allocatable :: message
    character(kind=c_char), pointer :: letters(:)
    integer :: i
    call c_f_pointer(zhalo_last_error(), letters, [strlen(zhalo_last_error())])
    allocate (character(len=size(letters)) :: message)
    do i = 1, size(letters)
      message(i:i) = letters(i)
    end do
  end function
end module
! [interface]

! [program]
program haloes_fortran
  use mpi_f08
  use zhalo
  implicit none
  integer(c_int64_t), parameter :: num = 4
  real(c_double), target :: position(3, num)
  integer(c_int64_t) :: labels(num)
  type(zhalo_particles) :: particles
  type(zhalo_box) :: box
  type(zhalo_context_options) :: options
  type(c_ptr) :: context, domain, groups, none
  integer(c_int) :: status
  integer :: rank

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  ! Each rank has a pair of particles across the edge of the box, and two others.
  position(:, 1) = [0.999d0, 0.5d0, 0.1d0 * rank]
  position(:, 2) = [0.200d0, 0.5d0, 0.1d0 * rank]
  position(:, 3) = [0.001d0, 0.5d0, 0.1d0 * rank]
  position(:, 4) = [0.600d0, 0.5d0, 0.1d0 * rank]
  particles%num = num
  box%length = 1
  box%periodic = 1

  options%processor = 1  ! the host
  call check(zhalo_context_create_f(MPI_COMM_WORLD%MPI_VAL, options, context))
  call check(zhalo_set_rows(particles%position, c_loc(position), 0, 3))  ! 0: double
  call check(zhalo_domain_create(context, [particles], 1, box, c_null_ptr, domain))
  call check(zhalo_find_groups(domain, 0.01d0, groups))
  call check(zhalo_groups_get_labels(groups, 0, labels, num))
  if (rank == 0) print '(a, 4i3)', 'labels', labels
  ! What is wrong is a status and a message, on all ranks. All ranks make the call.
  status = zhalo_find_groups(domain, -1d0, none)
  if (status /= 0 .and. rank == 0) print '(a)', error_message()

  call zhalo_groups_destroy(groups)
  call zhalo_domain_destroy(domain)
  call zhalo_context_destroy(context)
  call MPI_Finalize()

contains

  subroutine check(status)
    integer(c_int), intent(in) :: status
    if (status == 0) return
    print '(a)', error_message()
    call MPI_Abort(MPI_COMM_WORLD, 1)
  end subroutine
end program
! [program]
