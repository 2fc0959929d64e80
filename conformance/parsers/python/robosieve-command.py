# The command of this project.
from base import serve
from robosieve_command import allowed

serve(parse=lambda body, _: body, allowed=allowed)
