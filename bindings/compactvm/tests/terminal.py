"""terminal.py KIND CVM - what somebody at a terminal types, and what cvm answers. KIND: edited or plain."""

import os
import pty
import re
import select
import sys
import time

KIND, CVM = sys.argv[1:]
SECONDS = 60
INTERRUPT, END, UP, HOME = "\x03", "\x04", "\x1b[A", "\x01"

pid, terminal = pty.fork()
if pid == 0:
    os.environ.update(TERM="xterm", LC_ALL="C.UTF-8")
    os.execv(CVM, [CVM])

seen = ""       # all that has come and was not expected yet
tail = ""       # the end of all that has come


def more():
    """Wait for more text. False: there is no more."""
    global seen, tail
    if not select.select([terminal], [], [], SECONDS)[0]:
        sys.exit("nothing comes any more after: " + repr(seen))
    try:
        data = os.read(terminal, 4096)
    except OSError:
        return False
    seen += data.decode("utf-8", "replace")
    tail = (tail + data.decode("utf-8", "replace"))[-100:]
    return data != b""


def expect(pattern):
    """Wait until the pattern comes, and take all up to its end."""
    global seen
    while True:
        found = re.search(pattern, seen)
        if found:
            seen = seen[found.end():]
            return found.group()
        if not more():
            sys.exit("expected " + pattern + ", but the program ended after: " + repr(seen))


def send(text):
    os.write(terminal, text.encode())


def say(text, answer):
    """Type a line. The answer stands alone in a line, but for prompts: so it is not the echo of what was typed."""
    at_prompt = r"(> |  )(\x1b\[[0-9;?]*[a-zA-Z])*$"
    while not re.search(at_prompt, tail) and more():        # what is typed before a prompt can be lost
        pass
    time.sleep(0.05)
    send(text + "\r")
    return expect(r"(?m)^(?:[> ]|\x1b\[[0-9;?]*[a-zA-Z])*" + answer + r"\r?\n")


def prompt():
    expect(r"> ")
    time.sleep(0.05)


prompt()
say("(+ 40 2)", "42")
say("(define (f x) (car x))", "f")
say("(list 1 (f 5))", r"repl:1: error: car: expected a pair, got 5\r\n    in f, called at repl:1")

# An expression over two lines.
send("(+ 1\r")
expect(r"\n")
say("2)", "3")

# UTF-8, in strings and symbols.
say('(string-length "\u00e9")', "2")
say("(quote na\u00efve)", "na\u00efve")
say('(list "\u20ac")', '\\("\u20ac"\\)')

# An interrupt ends an evaluation, and nothing catches it.
for program in "(while true)", "(begin (define (loop) (loop)) (loop))", "(try (lambda () (while true)) (lambda (m) 'caught))":
    send(program + "\r")
    expect(r"\n")
    time.sleep(0.3)
    send(INTERRUPT)
    answer = expect(r"repl:1: error: interrupted\r?\n|caught\r?\n")
    assert "interrupted" in answer, answer
    say("(+ 1 1)", "2")

# At a prompt it ends nothing, and takes away what was typed so far.
for i in range(3):
    send(INTERRUPT)
    time.sleep(0.1)
say("(+ 2 2)", "4")
send("(car 1")
time.sleep(0.1)
send(INTERRUPT)
time.sleep(0.1)
say("(+ 2 3)", "5")
send("(list 1\r")
expect(r"\n")
time.sleep(0.1)
send(INTERRUPT)
time.sleep(0.1)
say("(+ 2 4)", "6")

if KIND == "edited":
    say("(define n 0)", "n")
    say("(set! n (+ n 1))", "1")
    say(UP, "2")                            # the line before, again
    say("* 5 6)" + HOME + "(", "30")        # the first character comes last

send(END)
while more():
    pass
status = os.waitpid(pid, 0)[1]
if status != 0:
    sys.exit("status %d at the end of the input" % status)
print("ok")
