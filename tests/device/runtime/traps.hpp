/// Accesses that the hardware refuses: to device memory by the host, around blocks, to freed ones.
#pragma once

namespace zhalo::emulated {

/// From now on a refused access to the memory of a device ends the process with a message. Called
/// again and again, because others (Catch2) set handlers of their own for a while.
void watch_for_traps();

}  // namespace zhalo::emulated
