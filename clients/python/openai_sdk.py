"""Checks of the OpenAI SDK: chat completions and Responses."""

import json

import openai
from pydantic import BaseModel

from checks import (
    CALLS, CITY, PIXEL_BASE64, PIXEL_SEEN, RESULTS, TOLD, USAGE, Checks, has, prompt, refused,
    same, waits,
)

checks = Checks("openai-py")
model = checks.model
client = openai.OpenAI(base_url=f"{checks.base}/v1", api_key=checks.token, max_retries=0)
image = f"data:image/png;base64,{PIXEL_BASE64}"


class Title(BaseModel):
    title: str
    count: int


def user(text):
    return [{"role": "user", "content": text}]


def chat_text():
    answer = client.chat.completions.create(model=model, messages=user(f"hello {USAGE}"))
    has(answer.choices[0].message.content, "You said: hello")
    same(answer.choices[0].finish_reason, "stop")
    same((answer.usage.prompt_tokens, answer.usage.completion_tokens), (140 + checks.cache_write, 7))
    same(answer.usage.prompt_tokens_details.cached_tokens, 40)


def chat_stream():
    stream = client.chat.completions.create(
        model=model, messages=user(f"[[words 40]] {USAGE}"), stream=True,
        stream_options={"include_usage": True},
    )
    text, usage = "", None
    for chunk in stream:
        usage = chunk.usage or usage
        for choice in chunk.choices:
            text += choice.delta.content or ""
    same(len(text.split()), 40)
    same((usage.prompt_tokens, usage.completion_tokens), (140 + checks.cache_write, 7))


def chat_stream_without_usage():
    """A client that did not ask for usage must not see a chunk without choices."""
    stream = client.chat.completions.create(model=model, messages=user("hi"), stream=True)
    for chunk in stream:
        same(len(chunk.choices), 1)


def chat_tools(streams):
    tools = [
        {"type": "function", "function": {"name": name, "parameters": CITY}} for name in RESULTS
    ]
    messages = user(prompt(CALLS))
    for turn in range(2):
        if streams:
            with client.chat.completions.stream(
                model=model, messages=messages, tools=tools
            ) as stream:
                message = stream.get_final_completion().choices[0].message
        else:
            answer = client.chat.completions.create(model=model, messages=messages, tools=tools)
            message = answer.choices[0].message
        if turn == 1:
            break
        same([call.function.name for call in message.tool_calls], list(RESULTS))
        same(json.loads(message.tool_calls[0].function.arguments), {"city": "Rome"})
        calls = [call.model_dump(include={"id", "type", "function"}) for call in message.tool_calls]
        for call in calls:
            call["function"].pop("parsed_arguments", None)
        messages.append({"role": "assistant", "content": None, "tool_calls": calls})
        for call in message.tool_calls:
            result = RESULTS[call.function.name]
            messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
    same(message.content, TOLD)


def chat_structured():
    answer = client.chat.completions.parse(
        model=model, messages=user("a title"), response_format=Title
    )
    same(answer.choices[0].message.parsed, Title(title="Scripted answer", count=1))


def chat_image():
    parts = [
        {"type": "text", "text": "what is it"},
        {"type": "image_url", "image_url": {"url": image}},
    ]
    answer = client.chat.completions.create(model=model, messages=user(parts))
    has(answer.choices[0].message.content, PIXEL_SEEN)


def chat_length():
    answer = client.chat.completions.create(
        model=model, messages=user("[[words 50]]"), max_completion_tokens=5
    )
    same(answer.choices[0].finish_reason, "length")


def responses_text():
    answer = client.responses.create(model=model, input=f"hello {USAGE}")
    has(answer.output_text, "You said: hello")
    same((answer.usage.input_tokens, answer.usage.output_tokens), (140 + checks.cache_write, 7))
    same(answer.usage.output_tokens_details.reasoning_tokens, 3)


def responses_stream():
    last, text = -1, ""
    with client.responses.stream(model=model, input=f"[[words 40]] {USAGE}") as stream:
        for event in stream:
            assert event.sequence_number > last, "sequence_number does not rise"
            last = event.sequence_number
            if event.type == "response.output_text.delta":
                text += event.delta
        final = stream.get_final_response()
    same(len(text.split()), 40)
    same(final.output_text, text)
    same(final.usage.input_tokens, 140 + checks.cache_write)


def responses_tools(streams):
    """A round with encrypted reasoning, which must come back as it was."""
    tools = [{"type": "function", "name": name, "parameters": CITY} for name in RESULTS]
    items = user(prompt(CALLS))
    ask = {
        "model": model, "tools": tools, "store": False, "reasoning": {"effort": "low"},
        "include": ["reasoning.encrypted_content"],
    }
    for turn in range(2):
        if streams:
            with client.responses.stream(input=items, **ask) as stream:
                answer = stream.get_final_response()
        else:
            answer = client.responses.create(input=items, **ask)
        if turn == 1:
            break
        calls = [item for item in answer.output if item.type == "function_call"]
        same([call.name for call in calls], list(RESULTS))
        reasoning = [item for item in answer.output if item.type == "reasoning"]
        kept = reasoning and reasoning[0].encrypted_content
        assert kept or checks.told, "no encrypted reasoning came"
        items += [item.model_dump(exclude={"parsed_arguments"}) for item in answer.output]
        for call in calls:
            result = RESULTS[call.name]
            items.append(
                {"type": "function_call_output", "call_id": call.call_id, "output": result}
            )
    same(answer.output_text, TOLD)


def responses_structured():
    answer = client.responses.parse(model=model, input="a title", text_format=Title)
    same(answer.output_parsed, Title(title="Scripted answer", count=1))


def responses_image():
    parts = [
        {"type": "input_text", "text": "what is it"},
        {"type": "input_image", "image_url": image, "detail": "auto"},
    ]
    has(client.responses.create(model=model, input=user(parts)).output_text, PIXEL_SEEN)


def models():
    assert model in [entry.id for entry in client.models.list()], f"{model} is not listed"


def refused_key():
    stranger = client.with_options(api_key="not-a-key")
    call = lambda: stranger.chat.completions.create(model=model, messages=user("hi"))
    refused(call, openai.AuthenticationError, 401)


def rate_limit():
    text = prompt("[[fault 429 retry-after=1 times=1]]")
    call = lambda: client.chat.completions.create(model=model, messages=user(text))
    error = refused(call, openai.RateLimitError, 429)
    same(error.response.headers["retry-after"], "1")
    patient = client.with_options(max_retries=1)
    again = lambda: patient.chat.completions.create(model=model, messages=user(text))
    has(waits(again, 0.9).choices[0].message.content, "You said")


def missing_model():
    call = lambda: client.chat.completions.create(model="missing-model", messages=user("hi"))
    refused(call, openai.NotFoundError, 404)


checks.run(
    chat_text=chat_text,
    chat_stream=chat_stream,
    chat_stream_without_usage=chat_stream_without_usage,
    chat_tools=lambda: chat_tools(False),
    chat_tools_stream=lambda: chat_tools(True),
    chat_structured=chat_structured,
    chat_image=chat_image,
    chat_length=chat_length,
    responses_text=responses_text,
    responses_stream=responses_stream,
    responses_tools=lambda: responses_tools(False),
    responses_tools_stream=lambda: responses_tools(True),
    responses_structured=responses_structured,
    responses_image=responses_image,
    models=models,
    refused_key=refused_key,
    rate_limit=rate_limit,
    missing_model=missing_model,
)
