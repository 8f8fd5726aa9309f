#include <exception>

#include "arguments.hpp"
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
/// zhalo, because handles of one make no sense to the other, or MPI does not run.
MPI_Fint handle_of(nb::handle comm) {
  // Groups and operations have numbers, too. What has none must not need mpi4py for its error.
  if (!nb::hasattr(comm, "py2f") ||
      !nb::isinstance(comm, nb::module_::import_("mpi4py.MPI").attr("Comm")))
    refuse("comm must be a communicator of mpi4py, or None");
  const nb::module_ mpi = nb::module_::import_("mpi4py.MPI");
  const std::string ours = library_version();
  const auto theirs = nb::cast<std::string>(mpi.attr("Get_library_version")());
  // A text of MPI may end with a null, which belongs to it for mpi4py.
  if (theirs.substr(0, ours.size()) != ours) {
    refuse("mpi4py has another MPI than zhalo (" + theirs + ", and " + ours +
           "); install mpi4py from source, with zhalo's MPI");
  }
  if (!nb::cast<bool>(mpi.attr("Is_initialized")()))
    refuse("MPI is not initialised; call MPI.Init() first, or give no comm");
  if (nb::cast<bool>(mpi.attr("Is_finalized")()))
    refuse("MPI is finalised; make the context before MPI.Finalize(), or give no comm");
  return static_cast<MPI_Fint>(nb::cast<long long>(comm.attr("py2f")()));
}

/// What a caller said of a context. `device` must stay where it is.
zhalo_context_options options_of(const Word& processor, const std::optional<WholeNumber>& threads,
                                 const std::optional<WholeNumber>& wanted_device, int& device,
                                 const std::optional<Number>& timeout) {
  zhalo_context_options options{};
  options.processor = choose(
      processor, {{"automatic", ZHALO_AUTOMATIC}, {"host", ZHALO_HOST}, {"cuda", ZHALO_CUDA}},
      "processor");
  if (threads) {
    options.threads = threads->small_value("threads");
    if (options.threads < 1)
      refuse("threads is " + shown(threads->given) + " (must be at least 1)");
  }
  if (wanted_device) {
    device = wanted_device->small_value("device");
    if (device < 0) refuse("device is " + shown(wanted_device->given) + " (must be at least 0)");
    options.device = &device;
  }
  if (timeout) {
    options.timeout_seconds = timeout->value("timeout");
    if (!(options.timeout_seconds > 0)) {
      refuse("timeout is " + shown(timeout->given) + " (must be a positive number of seconds)");
    }
  }
  return options;
}

Context make_context(nb::object comm, const Word& processor,
                     const std::optional<WholeNumber>& threads,
                     const std::optional<WholeNumber>& device,
                     const std::optional<Number>& timeout) {
  const bool is_alone = comm.is_none();
  const MPI_Fint handle = is_alone ? 0 : handle_of(comm);
  int number = 0;
  zhalo_context_options options{};
  std::exception_ptr refused;  // others wait until this rank has a context, and can say so
  try {
    options = options_of(processor, threads, device, number, timeout);
  } catch (...) {
    refused = std::current_exception();
    options.processor = ZHALO_HOST;
  }
  Context context;
  context.handle = std::make_shared<Owned<zhalo_context, zhalo_context_destroy>>(
      context, [&](zhalo_context** made) {
        return is_alone ? zhalo_context_create_alone(&options, made)
                        : zhalo_context_create_f(handle, &options, made);
      });
  context.agreed([&] {
    if (refused) std::rethrow_exception(refused);
    return true;
  });
  return context;
}

bool is_on_device(const Context& context) {
  int answer = 0;
  context.run([&] { return zhalo_context_is_on_device(context.handle->get(), &answer); });
  return answer != 0;
}

/// As Python shows it, without the lines of the program. Throws nothing: other ranks wait for it.
std::string message_of(const nb::python_error& raised) {
  std::string kind = "an error";
  try {
    kind = nb::cast<std::string>(raised.type().attr("__name__"));
    const auto text = nb::cast<std::string>(nb::str(raised.value()));
    const auto module = nb::cast<std::string>(raised.type().attr("__module__"));
    const bool is_ours = module == "zhalo" || module.rfind("zhalo.", 0) == 0;
    return is_ours && !text.empty() ? text : kind + ": " + text;
  } catch (const std::exception&) {
    return kind + ", whose text cannot be shown";
  }
}

}  // namespace

void Context::run_agreed(const std::function<void()>& work) const {
  std::optional<std::string> error;  // its text may be empty
  int status = ZHALO_INPUT_ERROR;
  std::exception_ptr interrupt;  // such as KeyboardInterrupt, which is this rank's
  try {
    work();
  } catch (const nb::python_error& raised) {
    error = message_of(raised);
    if (raised.matches(PyExc_MemoryError)) status = ZHALO_OUT_OF_MEMORY;
    if (!raised.matches(PyExc_Exception)) interrupt = std::current_exception();
  } catch (const std::bad_alloc&) {
    error = "an argument does not fit into memory";
    status = ZHALO_OUT_OF_MEMORY;
  } catch (const StatusError& failed) {
    error = failed.what();
    status = failed.status();
  } catch (const std::exception& failed) {
    error = failed.what();
  }
  if (error && error->empty()) error = "an argument cannot be used";
  try {
    run([&] {
      return zhalo_context_agree(handle->get(), status, error ? error->c_str() : nullptr);
    });
  } catch (const StatusError&) {
    if (interrupt) std::rethrow_exception(interrupt);
    throw;
  }
}

/// Of texts that ranks share: names and types.
constexpr std::size_t room_of_shared = 65536;

std::string Context::shared(const std::optional<std::string>& text) const {
  std::string found(room_of_shared, '\0');
  run([&] {
    return zhalo_context_share(handle->get(), text ? text->c_str() : nullptr, found.data(),
                               static_cast<std::int64_t>(found.size()));
  });
  return found.c_str();
}

void Context::agree_on_giving(bool can_give, bool gives, const std::string& what) const {
  const bool is_given = can_give && gives;
  const bool is_given_somewhere = !shared(is_given ? std::optional(what) : std::nullopt).empty();
  run_agreed([&] {
    if (can_give && is_given != is_given_somewhere)
      refuse("there are no " + what +
             " on this rank, and others have them; give them on all ranks, "
             "or on none");
  });
}

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
      .def("__repr__",
           [](const Context& context) {
             return std::string("<zhalo.Context on ") +
                    (is_on_device(context) ? "a CUDA device>" : "the host>");
           })
      .def_prop_ro("is_on_device", &is_on_device, "Whether this rank computes on a CUDA device.")
      .def(
          "release_memory",
          [](const Context& context) {
            context.run([&] { return zhalo_context_release_memory(context.handle->get()); });
          },
          "Gives the memory that is kept for later calls back to the system.");
}

}  // namespace zhalo::python
