# WWW::RobotRules: rules of one agent, which is the name of the crawler.
use FindBin;
use lib "$FindBin::Bin/../../bases";
use base_perl;
use WWW::RobotRules;

base_perl::serve(
    parse => sub {
        my ($text, $agent) = @_;
        my $rules = WWW::RobotRules->new("$agent/1.0");
        $rules->parse('http://example.com/robots.txt', $text);
        return $rules;
    },
    allowed => sub { my ($rules, $agent, $url) = @_; return $rules->allowed($url) == 1; },
);
