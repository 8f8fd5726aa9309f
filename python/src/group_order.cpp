#include "catalogue.hpp"

namespace zhalo::python {
namespace {

/// A type of elements and the shape of a row of them: a text that numpy and all ranks read alike.
struct RowKind {
  std::string text;

  RowKind() = default;
  explicit RowKind(const nb::object& rows) {
    const nb::module_ format = nb::module_::import_("numpy.lib.format");
    const nb::object own = rows.attr("dtype");
    const nb::object type = format.attr("dtype_to_descr")(own);
    if (!format.attr("descr_to_dtype")(type).equal(own)) {
      refuse("numpy cannot describe the array's type " + nb::cast<std::string>(nb::str(own)) +
             " in words; convert it to one of numpy's own");
    }
    const nb::object shape = rows.attr("shape")[nb::slice(1, 1 << 20, 1)];
    text = nb::cast<std::string>(nb::repr(nb::make_tuple(type, shape)));
  }

  /// So many of them, whose elements are not set yet.
  nb::object new_rows(std::int64_t num) const {
    const nb::object read = nb::module_::import_("ast").attr("literal_eval")(text);
    const nb::object type =
        nb::module_::import_("numpy.lib.format").attr("descr_to_dtype")(read[0]);
    const nb::object shape = nb::make_tuple(num) + read[1];
    return nb::module_::import_("numpy").attr("empty")(shape, type);
  }
};

/// The arrays that a caller gives, one for each species.
struct GivenRows {
  std::vector<nb::object> rows;
  RowKind kind;  ///< of species with particles; without a text if there are none on this rank
};

/// InputError unless there is a row for each particle, with numbers.
void validate_rows(const nb::object& rows, std::size_t num, std::size_t species) {
  const auto shape = nb::cast<std::vector<std::size_t>>(rows.attr("shape"));
  if (shape.empty() || shape[0] != num) {
    refuse("species " + std::to_string(species) + " has " + std::to_string(num) +
           " particles on this rank, and its array has another length");
  }
  if (nb::cast<bool>(rows.attr("dtype").attr("hasobject")))
    refuse("the array has Python objects; give numbers");
}

/// numpy has no words for records whose fields are out of order in memory.
nb::object with_fields_in_order(const nb::object& rows) {
  try {
    static_cast<void>(nb::object(rows.attr("dtype").attr("descr")));
    return rows;
  } catch (const nb::python_error&) {
    return nb::module_::import_("numpy.lib.recfunctions").attr("repack_fields")(rows);
  }
}

GivenRows given_rows(const Catalogue& catalogue, const nb::args& columns) {
  if (columns.size() != catalogue.num.size())
    refuse("give one array for each of the " + std::to_string(catalogue.num.size()) + " species");
  const nb::module_ numpy = nb::module_::import_("numpy");
  GivenRows given;
  const nb::object* first = nullptr;
  given.rows.reserve(columns.size());
  for (std::size_t species = 0; species < columns.size(); ++species) {
    const std::size_t num = catalogue.num[species];
    const nb::handle column = columns[species];
    const bool is_none = column.is_none() && num == 0;
    given.rows.push_back(with_fields_in_order(
        numpy.attr("ascontiguousarray")(is_none ? numpy.attr("empty")(0) : as_numpy(column))));
    const nb::object& last = given.rows.back();
    validate_rows(last, num, species);
    if (num == 0) continue;
    if (first == nullptr) first = &last;
    if (!last.attr("dtype").equal(first->attr("dtype")))
      refuse("the arrays of the species have different types of numbers; convert them to one");
    if (RowKind(last).text != RowKind(*first).text)
      refuse("the rows of the species have different shapes");
  }
  if (first != nullptr) given.kind = RowKind(*first);
  return given;
}

/// What the rows of all ranks are: InputError where they differ. A rank without particles need not
/// know. Collective.
RowKind kind_of_all(const Context& context, const GivenRows& given) {
  RowKind kind;
  const std::string& own = given.kind.text;
  kind.text = context.shared(own.empty() ? std::nullopt : std::optional(own));
  context.agreed([&] {
    if (!own.empty() && own != kind.text) {
      refuse("the array's type and shape of rows are " + own + " on this rank, and " + kind.text +
             " on others; give all ranks the same");
    }
    if (kind.text.empty()) kind = RowKind(given.rows[0]);
    return true;
  });
  return kind;
}

}  // namespace

NumpyArray in_group_order(const Catalogue& catalogue, const nb::args& columns) {
  const GivenRows given = catalogue.context.agreed([&] { return given_rows(catalogue, columns); });
  const RowKind kind = kind_of_all(catalogue.context, given);
  const std::int64_t num = catalogue.counts().num_members;
  std::int64_t bytes = 0;
  const nb::object ordered = catalogue.context.agreed([&] {
    bytes = nb::cast<std::int64_t>(kind.new_rows(1).attr("nbytes"));
    return kind.new_rows(num);
  });
  std::vector<zhalo_elements> elements;
  for (const nb::object& rows : given.rows) elements.push_back({address_of(rows), bytes, 0});
  void* const to = address_of(ordered);
  catalogue.context.run([&] {
    return zhalo_catalogue_get_member_elements(catalogue.handle.get(), elements.data(), to, num);
  });
  return nb::borrow<NumpyArray>(ordered);
}

}  // namespace zhalo::python
