// EAGLE: GADGET-3 with a hash table and its constants.
#include "src/io/snapshot/dialect.hpp"

namespace zhalo::io {

using hdf5::InputFile;

Dialect eagle_dialect() {
  Dialect dialect = gadget_family();
  dialect.code = Code::eagle;
  dialect.name = "EAGLE";
  dialect.is_of = [](const InputFile& file) {
    return (file.has("HashTable") && file.has("Constants")) ||
           file.has_attribute("Header", "ExpansionFactor");
  };
  return dialect;
}

}  // namespace zhalo::io
