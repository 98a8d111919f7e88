<?php
// Says how often it was asked. Each request begins with nothing, so the count is in a file.
$count = file_exists('count') ? (int) file_get_contents('count') : 0;
file_put_contents('count', $count + 1);
echo $count + 1, ' ', date('c'), "\n";
