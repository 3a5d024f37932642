type_profile: str
compiler: str
optimised: bool
