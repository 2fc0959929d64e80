# The command of this project with the profile rfc9309. It gives the answers of the RFC's total.
from base import serve
from robosieve_command import allowed

serve(
    parse=lambda body, _: body,
    allowed=lambda body, agent, url: allowed(body, agent, url, "--profile", "rfc9309"),
)
