/** The same proxy for PHP: see the Node one for the lines that go in and out. */
export const phpProxy = String.raw`<?php
ini_set('display_errors', 'stderr');
ini_set('log_errors', '0');
error_reporting(E_ALL & ~E_DEPRECATED);
set_error_handler(function ($level, $text, $file, $line) {
    if (!(error_reporting() & $level)) {
        return false;
    }
    file_put_contents('php://stderr', "PHP $text in $file on line $line\n");
    return true;
});

$__answers = fopen('php://fd/3', 'w');

function __say($text)
{
    global $__answers;
    fwrite($__answers, $text . "\n");
    fflush($__answers);
}

function __fault($message)
{
    __say('!' . json_encode($message, JSON_INVALID_UTF8_SUBSTITUTE));
}

function __init($init)
{
    foreach ($init['env'] ?? [] as $key => $text) {
        putenv("$key=$text");
        $_ENV[$key] = $text;
    }
    if (!empty($init['dir'])) {
        chdir($init['dir']);
        if (file_exists('vendor/autoload.php')) {
            require 'vendor/autoload.php';
        }
        if (!file_exists('index.php')) {
            throw new Exception('the archive has no index.php');
        }
        require $init['dir'] . '/index.php';
    } else {
        $code = $init['code'];
        $file = (getenv('TMPDIR') ?: '/tmp') . '/index.php';
        file_put_contents($file, strpos($code, '<?php') === false ? "<?php\n" . $code : $code);
        require $file;
    }
    if (!is_callable($init['main'])) {
        throw new Exception('the code has no function called ' . $init['main']);
    }
    return $init['main'];
}

function __run($main, $message)
{
    foreach ($message as $key => $text) {
        if ($key !== 'value' && is_string($text)) {
            putenv('__OW_' . strtoupper($key) . "=$text");
            $_ENV['__OW_' . strtoupper($key)] = $text;
        }
    }
    try {
        $result = $main($message['value'] ?? []);
    } catch (Throwable $error) {
        file_put_contents('php://stderr', $error . "\n");
        return __fault('An error has occurred: ' . $error);
    }
    if ($result === null || $result === []) {
        return __say('{}');
    }
    if (!is_array($result) && !is_object($result)) {
        return __fault('The action did not return a dictionary or array.');
    }
    $text = json_encode($result, JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE);
    if ($text === false) {
        return __fault('The action returned what is not JSON: ' . json_last_error_msg());
    }
    __say($text);
}

$__main = null;
__say('{"ok":true}');
while (($__line = fgets(STDIN)) !== false) {
    $__message = json_decode($__line, true);
    if (isset($__message['init'])) {
        try {
            $__main = __init($__message['init']);
            __say('{"ok":true}');
        } catch (Throwable $error) {
            __fault('Initialization has failed due to: ' . $error);
        }
    } else {
        __run($__main, $__message);
    }
}
`
