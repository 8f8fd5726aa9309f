

#include "objects.hpp"

namespace zhalo::python {
namespace {

std::string library_version() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Get_library_version(text, &length);
  return text;
}

/// The communicator of mpi4py as a number of Fortran. InputError if mpi4py has another MPI than
/// zhalo, because handles of one make no sense to the other.
MPI_Fint handle_of(nb::handle comm) {
  if (!nb::hasattr(comm, "py2f")) refuse("comm must be a communicator of mpi4py, or None");
  const std::string ours = library_version();
  const auto theirs =
      nb::cast<std::string>(nb::module_::import_("mpi4py.MPI").attr("Get_library_version")());
  // A text of MPI may end with a null, which belongs to it for mpi4py.
  if (theirs.substr(0, ours.size()) != ours) {
    refuse("mpi4py has another MPI than zhalo (" + theirs + ", and " + ours +
           "); install mpi4py from source, with zhalo's MPI");
  }
  return static_cast<MPI_Fint>(nb::cast<long long>(comm.attr("py2f")()));
}

Context make_context(nb::object comm, const std::string& processor, std::optional<int> threads,
                     std::optional<int> device, std::optional<double> timeout) {
  zhalo_context_options options{};
  options.processor = choose(
      processor, {{"automatic", ZHALO_AUTOMATIC}, {"host", ZHALO_HOST}, {"cuda", ZHALO_CUDA}},
      "processor");
  if (threads && *threads < 1) refuse("there must be at least 1 thread");
  if (timeout && !(*timeout > 0)) refuse("the timeout must be a positive number of seconds");
  options.threads = threads.value_or(0);
  options.device = device ? &*device : nullptr;
  options.timeout_seconds = timeout.value_or(0);
  using Handle = Owned<zhalo_context, zhalo_context_destroy>;
  if (comm.is_none()) {
    return {std::make_shared<Handle>(
        [&](zhalo_context** made) { return zhalo_context_create_alone(&options, made); })};
  }
  const MPI_Fint handle = handle_of(comm);
  return {std::make_shared<Handle>(
      [&](zhalo_context** made) { return zhalo_context_create_f(handle, &options, made); })};
}

bool is_on_device(const Context& context) {
  int answer = 0;
  run([&] { return zhalo_context_is_on_device(context.handle->get(), &answer); });
  return answer != 0;
}

}  // namespace

void bind_context(nb::module_& module) {
  nb::class_<Context>(module, "Context", R"(The ranks, and where each of them computes.

Make one context and keep it: it keeps the memory of a call for the next one.

comm       a communicator of mpi4py, or None: this process alone. With a communicator, making the
           context and everything that is made with it is collective: all of its ranks call it.
processor  "automatic" (a CUDA device if the rank sees one, else the host), "host" or "cuda"
threads    of the host; None: OMP_NUM_THREADS, else this rank's share of the cores
device     number of the CUDA device; None: the ranks of a machine take devices in turn
timeout    longest wait for other ranks in seconds; None: ZHALO_TIMEOUT, else half an hour)")
      .def(nb::new_(&make_context), nb::arg("comm") = nb::none(), nb::kw_only(),
           nb::arg("processor") = "automatic", nb::arg("threads") = nb::none(),
           nb::arg("device") = nb::none(), nb::arg("timeout") = nb::none())
      .def_prop_ro("is_on_device", &is_on_device, "Whether this rank computes on a CUDA device.")
      .def(
          "release_memory",
          [](const Context& context) {
            run([&] { return zhalo_context_release_memory(context.handle->get()); });
          },
          "Gives the memory that is kept for later calls back to the system.");
}

}  // namespace zhalo::python
