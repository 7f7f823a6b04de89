# For each test named in $bad (one a line): its name, then what it recorded, from the event stream of Swift Testing. Last
# what was recorded outside of every test: an expectation on a thread of its own does not know to which test it belongs.
# $most: lines a test may take. A line is cut: arguments of a failed expectation can be whole purchases.
def told($lines; $most):
  $lines | if length > $most then .[:$most] + ["… \(length - $most) more lines above"] else . end | .[] | "      \(.)";
"outside of every test" as $outside
| ($bad | split("\n") | map(select(. != ""))) as $names
| reduce (inputs | .payload) as $event ({};
    (($event.testID // $outside) | sub("/[^/]*\\.swift:[0-9]+:[0-9]+$"; "")) as $name
    | if $event.kind == "issueRecorded" and $event.issue.isKnown != true then
        .[$name].lines += [$event.issue.sourceLocation as $place
            | "\($place.fileID // "no place"):\($place.line // 0)"
            , ($event.messages[] | select(.symbol != "default") | .text | split("\n")[] | .[:300])]
      elif ["testStarted", "testEnded", "testSkipped"] | index($event.kind) then .[$name][$event.kind] = true
      else . end)
| . as $seen
| ( $names[]
  | ($seen[.] // {}) as $test
  | "  \(.)"
  , told($test.lines // [if $test.testSkipped then "it was skipped"
      elif $test.testStarted and ($test.testEnded | not) then "it began and did not end: a crash, or the time was over"
      elif $test.testEnded then "it ended without an issue, yet not as passed"
      else "it never began" end]; $most))
, ($seen[$outside].lines // empty | "  \($outside)", told(.; $most))
