"""The pages of the documentation, as files beside this one; ``make docs`` builds the site from them."""
