# For each test named in $bad (one a line): its name, then what it recorded, from the event stream of Swift Testing.
# $most: lines a test may take. A line is cut: arguments of a failed expectation can be whole purchases.
($bad | split("\n") | map(select(. != ""))) as $names
| reduce (inputs | .payload | select(.testID != null)) as $event ({};
    ($event.testID | sub("/[^/]*\\.swift:[0-9]+:[0-9]+$"; "")) as $name
    | if $event.kind == "issueRecorded" and $event.issue.isKnown != true then
        .[$name].lines += [$event.issue.sourceLocation as $place
            | "\($place.fileID // "no place"):\($place.line // 0)"
            , ($event.messages[] | select(.symbol != "default") | .text | split("\n")[] | .[:300])]
      elif ["testStarted", "testEnded", "testSkipped"] | index($event.kind) then .[$name][$event.kind] = true
      else . end)
| . as $seen
| $names[]
| ($seen[.] // {}) as $test
| "  \(.)"
, ($test.lines // [if $test.testSkipped then "it was skipped"
    elif $test.testStarted and ($test.testEnded | not) then "it began and did not end: a crash, or the time was over"
    elif $test.testEnded then "it ended without an issue, yet not as passed"
    else "it never began" end]
  | if length > $most then .[:$most] + ["… \(length - $most) more lines above"] else . end
  | .[] | "      \(.)")
