#define WB_UNIT narrow
#include "unit.hpp"
