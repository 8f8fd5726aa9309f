#include "tests/device/runtime/profile.hpp"

namespace zhalo::emulated::profile {

void end_step(const std::string&) {}
void clear() {}
std::vector<Instruction> instructions() { return {}; }

}  // namespace zhalo::emulated::profile
