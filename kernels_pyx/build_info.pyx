"""How the compiled modules were built: their type profile, the compiler, and whether it optimised."""

include "generated.pxi"

cdef extern from *:
    """
    #if defined(__clang__)
    #define WB_COMPILER "clang " __clang_version__
    #elif defined(__GNUC__)
    #define WB_COMPILER "gcc " __VERSION__
    #else
    #define WB_COMPILER "unknown"
    #endif
    #if defined(__OPTIMIZE__)
    #define WB_OPTIMISED 1
    #else
    #define WB_OPTIMISED 0
    #endif
    """
    const char* WB_COMPILER
    int WB_OPTIMISED

type_profile: str = GENERATED_TYPE_PROFILE
compiler: str = WB_COMPILER.decode("ascii")
optimised: bool = WB_OPTIMISED != 0
