"""Checks of the Anthropic SDK."""

import anthropic
from pydantic import BaseModel

from checks import (
    CALLS, CITY, PIXEL_BASE64, PIXEL_SEEN, RESULTS, TOLD, USAGE, Checks, has, prompt, refused,
    same, waits,
)

checks = Checks("anthropic-py")
model = checks.model
client = anthropic.Anthropic(base_url=checks.base, api_key=checks.token, max_retries=0)
tools = [{"name": name, "input_schema": CITY} for name in RESULTS]
thinking = {"type": "enabled", "budget_tokens": 1024}


class Title(BaseModel):
    title: str
    count: int


def user(text):
    return [{"role": "user", "content": text}]


def ask(content, **further):
    return {"model": model, "max_tokens": 2000, "messages": user(content), **further}


def text_of(message):
    return "".join(block.text for block in message.content if block.type == "text")


def text():
    answer = client.messages.create(**ask(f"hello {USAGE}"))
    has(text_of(answer), "You said: hello")
    same(answer.stop_reason, "end_turn")
    usage = answer.usage
    same((usage.input_tokens, usage.output_tokens), (100, 7))
    same((usage.cache_read_input_tokens, usage.cache_creation_input_tokens), (40, checks.cache_write))


def stream():
    with client.messages.stream(**ask(f"[[words 40]] {USAGE}")) as stream:
        text = "".join(stream.text_stream)
        final = stream.get_final_message()
    same(len(text.split()), 40)
    same((final.usage.input_tokens, final.usage.output_tokens), (100, 7))


def tool_round(streams, thinks):
    """A round of parallel calls; with thinking, the signature must come back as it was."""
    messages = user(prompt(CALLS))
    request = {"model": model, "max_tokens": 2000, "tools": tools}
    if thinks:
        request["thinking"] = thinking
    for turn in range(2):
        if streams:
            with client.messages.stream(messages=messages, **request) as stream:
                answer = stream.get_final_message()
        else:
            answer = client.messages.create(messages=messages, **request)
        if turn == 1:
            break
        same(answer.stop_reason, "tool_use")
        calls = [block for block in answer.content if block.type == "tool_use"]
        same([call.name for call in calls], list(RESULTS))
        same(calls[0].input, {"city": "Rome"})
        if thinks:
            block = answer.content[0]
            assert block.type == "thinking" and block.signature, "no signed thinking came"
        messages.append({"role": "assistant", "content": answer.content})
        results = [
            {"type": "tool_result", "tool_use_id": call.id, "content": RESULTS[call.name]}
            for call in calls
        ]
        messages.append({"role": "user", "content": results})
    same(text_of(answer), TOLD)


def structured():
    answer = client.messages.parse(**ask("a title"), output_format=Title)
    same(answer.parsed_output, Title(title="Scripted answer", count=1))


def image():
    source = {"type": "base64", "media_type": "image/png", "data": PIXEL_BASE64}
    parts = [{"type": "image", "source": source}, {"type": "text", "text": "what is it"}]
    has(text_of(client.messages.create(**ask(parts))), PIXEL_SEEN)


def length():
    answer = client.messages.create(**{**ask("[[words 50]]"), "max_tokens": 5})
    same(answer.stop_reason, "max_tokens")


def count_tokens():
    count = client.messages.count_tokens(model=model, messages=user("hello"))
    assert count.input_tokens > 0, "no tokens were counted"


def models():
    assert model in [entry.id for entry in client.models.list()], f"{model} is not listed"


def refused_key():
    stranger = client.with_options(api_key="not-a-key")
    refused(lambda: stranger.messages.create(**ask("hi")), anthropic.AuthenticationError, 401)


def rate_limit():
    text = prompt("[[fault 429 retry-after=1 times=1]]")
    error = refused(lambda: client.messages.create(**ask(text)), anthropic.RateLimitError, 429)
    same(error.response.headers["retry-after"], "1")
    patient = client.with_options(max_retries=1)
    has(text_of(waits(lambda: patient.messages.create(**ask(text)), 0.9)), "You said")


def overloaded():
    text = prompt("[[fault 529 times=9]]")
    error = refused(lambda: client.messages.create(**ask(text)), anthropic.APIStatusError, 529)
    same(error.body["error"]["type"], "overloaded_error")


checks.run(
    text=text,
    stream=stream,
    tools=lambda: tool_round(False, False),
    tools_stream=lambda: tool_round(True, False),
    thinking_tools=lambda: tool_round(False, True),
    thinking_tools_stream=lambda: tool_round(True, True),
    structured=structured,
    image=image,
    length=length,
    count_tokens=count_tokens,
    models=models,
    refused_key=refused_key,
    rate_limit=rate_limit,
    overloaded=overloaded,
)
