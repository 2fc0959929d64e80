<?php
require getenv('BASES') . '/base.php';
load_classes('RobotsTxtParser\\', getenv('SOURCES') . '/src/RobotsTxtParser');

serve(
    fn (string $body) => new RobotsTxtParser\RobotsTxtValidator((new RobotsTxtParser\RobotsTxtParser($body))->getRules()),
    fn ($validator, string $agent, string $url) => $validator->isUrlAllow($url, $agent),
);
