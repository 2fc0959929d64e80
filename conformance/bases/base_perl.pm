# Answers questions about robots.txt files with a Perl module, by the protocol of README.md.
#
# A parser is a program that calls `serve`. `parse` gets the text and the agent, `allowed` what `parse`
# returned, the agent and the URL. The base times them and catches what they die of.
package base_perl;

use strict;
use warnings;
use Encode ();
use JSON::PP ();
use MIME::Base64 ();
use Time::HiRes ();

sub cpu_ns { return int(1e9 * Time::HiRes::clock()); }

sub say_json {
    my ($out, $message) = @_;
    print {$out} JSON::PP::encode_json($message), "\n";
}

sub serve {
    my (%calls) = @_;
    # What a module prints must not mix with the answers.
    open(my $out, '>&', \*STDOUT) or die $!;
    open(STDOUT, '>&', \*STDERR) or die $!;
    $out->autoflush(1);
    $SIG{__WARN__} = sub { };
    say_json($out, { hello => 1, parses => 'per agent' });
    my @kept;
    while (my $line = <STDIN>) {
        my $question = JSON::PP::decode_json($line);
        # Bytes that are not UTF-8 become U+FFFD.
        my $text = Encode::decode('UTF-8', MIME::Base64::decode_base64($question->{robots}));
        my $answer;
        for (1 .. $question->{repeat} // 1) {
            $answer = ask(\%calls, $text, $question, \@kept);
        }
        say_json($out, $answer);
    }
}

sub ask {
    my ($calls, $text, $question, $kept) = @_;
    my ($parse_ns, $ask_ns, @verdicts) = (0, 0);
    for my $agent (@{ $question->{agents} }) {
        my $start = cpu_ns();
        my $parsed = eval { $calls->{parse}->($text, $agent) };
        $parse_ns += cpu_ns() - $start;
        push @$kept, $parsed if $question->{keep};
        my $letters = '';
        $start = cpu_ns();
        for my $url (@{ $question->{urls} }) {
            my $allowed = defined $parsed ? eval { $calls->{allowed}->($parsed, $agent, $url) ? 1 : 0 } : undef;
            $letters .= defined $allowed ? $allowed ? 'A' : 'D' : 'E';
        }
        $ask_ns += cpu_ns() - $start;
        push @verdicts, $letters;
    }
    return { verdicts => \@verdicts, parse_ns => $parse_ns, ask_ns => $ask_ns };
}

1;
