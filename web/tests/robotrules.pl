# Asks WWW::RobotRules each question of a JSON list on standard input: `body`, `agent`, `url`. Prints
# a list of 0 and 1, for scripts/x browser.
use strict;
use warnings;
use JSON::PP;
use WWW::RobotRules;

local $/;
local $^W = 0;
my @answers;
for my $question (@{ decode_json(<STDIN>) }) {
    my $rules = WWW::RobotRules->new($question->{agent});
    my ($origin) = $question->{url} =~ m{^(\w+://[^/?]*)};
    $rules->parse("$origin/robots.txt", $question->{body});
    push @answers, $rules->allowed($question->{url}) > 0 ? 1 : 0;
}
print encode_json(\@answers);
