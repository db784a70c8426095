/** The same proxy for Python: see the Node one for the lines that go in and out. */
export const pythonProxy = String.raw`import importlib.util
import json
import os
import sys
import traceback

inbound = os.fdopen(0, "r", encoding="utf-8")
outbound = os.fdopen(3, "w", encoding="utf-8")
sys.stdin = open(os.devnull)
main = None


def say(text):
    sys.stdout.flush()
    sys.stderr.flush()
    outbound.write(text + "\n")
    outbound.flush()


def fault(message):
    say("!" + json.dumps(message))


def from_source(code, name):
    scope = {"__name__": "__main__", "__file__": "/tmp/__main__.py", "__builtins__": __builtins__}
    exec(compile(code, "__main__.py", "exec"), scope)
    return scope.get(name)


def from_folder(folder, name):
    version = "python%d.%d" % sys.version_info[:2]
    places = ["virtualenv/lib/" + version, "lib/" + version, "__pypackages__/" + version[6:]]
    packages = [os.path.join(folder, place, "site-packages") for place in places]
    sys.path[0:0] = [folder] + [place for place in packages if os.path.isdir(place)]
    os.chdir(folder)
    for file in ("__main__.py", "main.py"):
        entry = os.path.join(folder, file)
        if os.path.exists(entry):
            spec = importlib.util.spec_from_file_location("__action__", entry)
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            return getattr(module, name, None)
    raise Exception("the archive has no __main__.py")


def init(message):
    global main
    os.environ.update(message.get("env") or {})
    name = message.get("main") or "main"
    folder = message.get("dir")
    main = from_folder(folder, name) if folder else from_source(message["code"], name)
    if not callable(main):
        raise Exception("the code has no function called " + name)


def run(message):
    for key, text in message.items():
        if key != "value" and isinstance(text, str):
            os.environ["__OW_" + key.upper()] = text
    try:
        result = main(message.get("value"))
    except Exception:
        traceback.print_exc()
        return fault("An error has occurred: " + traceback.format_exc())
    if result is None:
        result = {}
    if not isinstance(result, (dict, list)):
        return fault("The action did not return a dictionary or array.")
    try:
        text = json.dumps(result, ensure_ascii=False)
    except Exception as error:
        return fault("The action returned what is not JSON: %s" % error)
    say(text)


say('{"ok":true}')
while True:
    line = inbound.readline()
    if not line:
        break
    message = json.loads(line)
    if "init" in message:
        try:
            init(message["init"])
            say('{"ok":true}')
        except Exception:
            fault("Initialization has failed due to: " + traceback.format_exc())
    else:
        run(message)
`
