"""Checks of the Google Gen AI SDK."""

import time

from google import genai
from google.genai import errors, types
from pydantic import BaseModel

from checks import (
    CALLS, CITY, PIXEL, PIXEL_SEEN, RESULTS, TOLD, USAGE, Checks, has, prompt, refused, same,
)

checks = Checks("google-genai-py")
model = checks.model


def connected(token):
    options = types.HttpOptions(
        base_url=checks.base, retry_options=types.HttpRetryOptions(attempts=1)
    )
    return genai.Client(api_key=token, http_options=options)


client = connected(checks.token)


class Title(BaseModel):
    title: str
    count: int


def text():
    answer = client.models.generate_content(model=model, contents=f"hello {USAGE}")
    has(answer.text, "You said: hello")
    usage = answer.usage_metadata
    same((usage.cached_content_token_count, usage.candidates_token_count), (40, 4))
    same(usage.thoughts_token_count, 3)


def stream():
    text, usage = "", None
    for chunk in client.models.generate_content_stream(
        model=model, contents=f"[[words 40]] {USAGE}"
    ):
        text += chunk.text or ""
        usage = chunk.usage_metadata or usage
    same(len(text.split()), 40)
    same(usage.candidates_token_count, 4)


def tool_round(streams):
    """A round of parallel calls; the thought signature must come back as it was."""
    declared = [
        types.FunctionDeclaration(name=name, parameters_json_schema=CITY) for name in RESULTS
    ]
    config = types.GenerateContentConfig(
        tools=[types.Tool(function_declarations=declared)],
        automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
    )
    contents = [types.Content(role="user", parts=[types.Part(text=prompt(CALLS))])]
    for turn in range(2):
        ask = {"model": model, "contents": contents, "config": config}
        if streams:
            chunks = list(client.models.generate_content_stream(**ask))
        else:
            chunks = [client.models.generate_content(**ask)]
        parts = [part for chunk in chunks for part in chunk.candidates[0].content.parts]
        if turn == 1:
            break
        calls = [part.function_call for part in parts if part.function_call]
        same([call.name for call in calls], list(RESULTS))
        same(calls[0].args, {"city": "Rome"})
        assert parts[0].thought_signature, "no thought signature came"
        contents.append(types.Content(role="model", parts=parts))
        results = [
            types.Part.from_function_response(
                name=call.name, response={"output": RESULTS[call.name]}
            )
            for call in calls
        ]
        contents.append(types.Content(role="user", parts=results))
    same("".join(part.text or "" for part in parts if not part.thought), TOLD)


def thinking():
    config = types.GenerateContentConfig(
        thinking_config=types.ThinkingConfig(include_thoughts=True)
    )
    answer = client.models.generate_content(model=model, contents="hello", config=config)
    thoughts = [part for part in answer.candidates[0].content.parts if part.thought]
    assert thoughts, "no thoughts came"


def structured():
    config = types.GenerateContentConfig(
        response_mime_type="application/json", response_schema=Title
    )
    answer = client.models.generate_content(model=model, contents="a title", config=config)
    same(answer.parsed, Title(title="Scripted answer", count=1))


def image():
    parts = [types.Part.from_bytes(data=PIXEL, mime_type="image/png"), "what is it"]
    has(client.models.generate_content(model=model, contents=parts).text, PIXEL_SEEN)


def length():
    config = types.GenerateContentConfig(max_output_tokens=5)
    answer = client.models.generate_content(model=model, contents="[[words 50]]", config=config)
    same(answer.candidates[0].finish_reason, types.FinishReason.MAX_TOKENS)


def count_tokens():
    count = client.models.count_tokens(model=model, contents="hello")
    assert count.total_tokens > 0, "no tokens were counted"


def models():
    names = [entry.name for entry in client.models.list()]
    assert f"models/{model}" in names, f"{model} is not among {names}"


def refused_key():
    stranger = connected("not-a-key")
    call = lambda: stranger.models.generate_content(model=model, contents="hi")
    refused(call, errors.ClientError, 401)


def rate_limit():
    text = prompt("[[fault 429 retry-after=1 times=1]]")
    call = lambda: client.models.generate_content(model=model, contents=text)
    error = refused(call, errors.ClientError, 429)
    has(str(error.details), "'retryDelay': '1s'")
    time.sleep(1.1)
    has(call().text, "You said")


checks.run(
    text=text,
    stream=stream,
    tools=lambda: tool_round(False),
    tools_stream=lambda: tool_round(True),
    thinking=thinking,
    structured=structured,
    image=image,
    length=length,
    count_tokens=count_tokens,
    models=models,
    refused_key=refused_key,
    rate_limit=rate_limit,
)
