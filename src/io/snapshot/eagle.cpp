// EAGLE: GADGET-3 with a hash table and its constants.
#include "src/io/snapshot/dialect.hpp"

namespace zhalo::io {

using hdf5::InputFile;

Dialect eagle_dialect() {
  return gadget_family(Code::eagle, "EAGLE", [](const InputFile& file) {
    return (file.has("HashTable") && file.has("Constants")) ||
           file.has_attribute("Header", "ExpansionFactor");
  });
}

}  // namespace zhalo::io
