import { expect, it } from "vitest";

import { placeholdersOf, problemOf, renderTemplate } from "../../shared/audience/templates/render.ts";

it.each([
  ["no placeholder", "Hello", []],
  ["an empty text", "", []],
  ["one", "Hello {{name}}", ["name"]],
  ["some twice, in the order of their first appearance", "{{b}} {{a}}{{ b }}{{C_1}}", ["b", "a", "C_1"]],
  ["blanks inside the braces", "{{  name   }}", ["name"]],
  ["the longest name", `{{${"x".repeat(32)}}}`, ["x".repeat(32)]],
  ["names of properties that every object has", "{{constructor}}{{toString}}", ["constructor", "toString"]],
  ["single braces around", "{ {{name}} }} {a}", ["name"]],
  ["a closing brace more", "{{name}}}", ["name"]],
])("a text with %s is well-formed", (_name, text, names) => {
  expect(problemOf(text)).toBeUndefined();
  expect(placeholdersOf(text)).toEqual(names);
});

it.each([
  ["opening braces alone", "{{", "not closed: {{"],
  ["a placeholder that is not closed", "Hi {{name", "not closed: {{name"],
  ["a placeholder that is closed by one brace", "Hi {{name} you", "not closed: {{name} you"],
  ["a name that begins with a digit", "{{ok}} {{1x}}", "malformed placeholder: {{1x}};"],
  ["a name that begins with an underscore", "{{__proto__}}", "malformed placeholder: {{__proto__}};"],
  ["no name", "{{ }}", "malformed placeholder: {{ }};"],
  ["two words for a name", "{{first name}}", "malformed placeholder: {{first name}};"],
  ["a line break inside the braces", "{{\nname}}", "malformed placeholder"],
  ["a name of 33 characters", `{{${"x".repeat(33)}}}`, "malformed placeholder"],
  ["three braces", "{{{name}}}", "malformed placeholder: {{{name}};"],
  ["a placeholder in another", "{{a{{b}}", "malformed placeholder: {{a{{b}};"],
  ["a letter that is none of A to Z", "{{größe}}", "malformed placeholder: {{größe}};"],
])("%s is found and shown", (_name, text, problem) => {
  expect(problemOf(text)).toContain(problem);
});

it("a long malformed placeholder is shown in part, without half a character", () => {
  const problem = problemOf(`{{ ${"😀".repeat(1_500)}`);
  expect(problem?.length).toBeLessThan(100);
  expect(problem?.isWellFormed()).toBe(true);
});

it("values go where their placeholders are, and unused ones nowhere", () => {
  expect(renderTemplate("{{a}}-{{ b }}-{{a}}", { a: "1", b: "", c: "3" })).toEqual({ text: "1--1" });
  expect(renderTemplate("no placeholder", { a: "1" })).toEqual({ text: "no placeholder" });
});

it("a value is never taken for a template or a pattern", () => {
  expect(renderTemplate("{{a}}{{b}}", { a: "{{b}}", b: "$& $1 {{a}}" })).toEqual({
    text: "{{b}}$& $1 {{a}}",
  });
});

it("each missing value is named once, also a name that every object has", () => {
  const text = "{{c}} {{a}} {{b}} {{c}} {{constructor}} {{toString}}";
  expect(renderTemplate(text, { a: "1" })).toEqual({ missing: ["c", "b", "constructor", "toString"] });
});

it("a text of only braces and blanks is checked in linear time", () => {
  expect(problemOf("{{ ".repeat(100_000))).toContain("not closed");
  expect(problemOf(`{{${" ".repeat(100_000)}`)).toContain("not closed");
});
