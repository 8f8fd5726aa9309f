/// Which CUB the algorithms here stand in for.
#pragma once

#define CUB_VERSION 300001
