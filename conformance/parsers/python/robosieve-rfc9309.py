# The command of this project, by RFC 9309 to the letter. It gives the answers of the RFC's total.
from base import serve
from robosieve_command import allowed

serve(
    parse=lambda body, _: body,
    allowed=lambda body, agent, url: allowed(body, agent, url, "--profile", "rfc9309"),
)
