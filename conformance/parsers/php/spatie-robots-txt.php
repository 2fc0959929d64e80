<?php
require getenv('BASES') . '/base.php';
load_classes('Spatie\\Robots\\', getenv('SOURCES') . '/src');

serve(
    fn (string $body) => new Spatie\Robots\RobotsTxt($body),
    fn ($robots, string $agent, string $url) => $robots->allows($url, $agent),
);
