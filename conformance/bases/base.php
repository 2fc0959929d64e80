<?php
/**
 * Answers questions about robots.txt files with a PHP library, by the protocol of README.md.
 *
 * A parser is a program that calls `serve`. `$parse` gets the bytes of the file, `$allowed` what `$parse`
 * returned, the agent and the URL. The base times them and catches what they throw.
 */

ini_set('memory_limit', '2G');
error_reporting(E_ERROR);

/** Loads the classes of a namespace from a directory, as Composer does (PSR-4). */
function load_classes(string $prefix, string $directory): void
{
    spl_autoload_register(function (string $class) use ($prefix, $directory) {
        if (str_starts_with($class, $prefix)) {
            require $directory . '/' . str_replace('\\', '/', substr($class, strlen($prefix))) . '.php';
        }
    });
}

/** Processor time of this process; the system gives microseconds. */
function cpu_ns(): int
{
    $used = getrusage();
    $seconds = $used['ru_utime.tv_sec'] + $used['ru_stime.tv_sec'];
    return 1000 * ($seconds * 1_000_000 + $used['ru_utime.tv_usec'] + $used['ru_stime.tv_usec']);
}

function say(array $message): void
{
    fwrite(STDOUT, json_encode($message) . "\n");
    fflush(STDOUT);
}

function serve(callable $parse, callable $allowed): void
{
    // What a library prints must not mix with the answers.
    ob_start(fn ($text) => '');
    say(['hello' => 1, 'parses' => 'once']);
    $kept = [];
    while (($line = fgets(STDIN)) !== false) {
        $question = json_decode($line, true);
        $body = base64_decode($question['robots']);
        for ($round = $question['repeat'] ?? 1; $round > 0; $round--) {
            [$answer, $parsed] = ask($parse, $allowed, $body, $question);
        }
        if ($question['keep'] ?? false) {
            $kept[] = $parsed;
        }
        say($answer);
    }
}

function ask(callable $parse, callable $allowed, string $body, array $question): array
{
    $verdicts = [];
    $parsed = null;
    $start = cpu_ns();
    try {
        $parsed = $parse($body);
    } catch (Throwable $error) {
        fwrite(STDERR, substr($error->getMessage(), 0, 200) . "\n");
    }
    $parse_ns = cpu_ns() - $start;
    $start = cpu_ns();
    foreach ($question['agents'] as $agent) {
        $letters = '';
        foreach ($question['urls'] as $url) {
            try {
                $letters .= $parsed === null ? 'E' : ($allowed($parsed, $agent, $url) ? 'A' : 'D');
            } catch (Throwable $error) {
                $letters .= 'E';
            }
        }
        $verdicts[] = $letters;
    }
    $ask_ns = cpu_ns() - $start;
    return [['verdicts' => $verdicts, 'parse_ns' => $parse_ns, 'ask_ns' => $ask_ns], $parsed];
}
