//! `tactus schema`: what a system file may hold, as JSON Schema.

use serde_json::{json, Map, Value};
use tactus_machine::failure::Outcome;
use tactus_model::schema::{schema as tables, Form, Key, Schema, Table};
use tactus_terminal::lines;

/// Prints the schema.
pub fn schema() -> Outcome {
    lines::put(&format!("{:#}\n", as_json(&tables())));
    Outcome::Held
}

/// The schema in the seventh draft, which editors read.
fn as_json(schema: &Schema) -> Value {
    let tables = schema.tables.iter().enumerate();
    let named: Map<String, Value> =
        tables.skip(1).map(|(n, table)| (name(schema, n), of_table(schema, table))).collect();
    let mut whole = of_table(schema, &schema.tables[0]);
    whole["$schema"] = json!("http://json-schema.org/draft-07/schema#");
    whole["title"] = json!("A system file of Tactus");
    whole["definitions"] = Value::Object(named);
    whole
}

/// The name of a table among the definitions: its key, and a number where several have it.
fn name(schema: &Schema, place: usize) -> String {
    let own = &schema.tables[place].name;
    match schema.tables[..place].iter().filter(|table| table.name == *own).count() {
        0 => own.clone(),
        earlier => format!("{own}-{}", earlier + 1),
    }
}

fn of_table(schema: &Schema, table: &Table) -> Value {
    let keys: Map<String, Value> = table.keys.iter().map(|key| (key.name.to_string(), of_key(schema, key))).collect();
    json!({ "type": "object", "properties": keys, "additionalProperties": false })
}

fn of_key(schema: &Schema, key: &Key) -> Value {
    let mut value = any_of(schema, &key.forms);
    if let Some(expected) = &key.expected {
        // A reference has no neighbours in this draft.
        if value.get("$ref").is_some() {
            value = json!({ "allOf": [value] });
        }
        value["description"] = json!(expected);
    }
    value
}

fn any_of(schema: &Schema, forms: &[Form]) -> Value {
    match forms {
        [] => json!({}),
        [one] => of_form(schema, one),
        several => json!({ "anyOf": several.iter().map(|form| of_form(schema, form)).collect::<Vec<_>>() }),
    }
}

fn of_form(schema: &Schema, form: &Form) -> Value {
    match form {
        Form::Boolean => json!({ "type": "boolean" }),
        Form::Integer => json!({ "type": "integer", "minimum": 0 }),
        Form::Number => json!({ "type": "number" }),
        Form::Text => json!({ "type": "string" }),
        Form::Name(names) => json!({ "enum": names }),
        Form::Time => json!({ "type": "string", "pattern": "^\\s*[0-9][0-9_.]*\\s*(ns|us|µs|ms|s)\\s*$" }),
        Form::Size => json!({ "type": "string", "pattern": "^\\s*[0-9][0-9_.]*\\s*(B|KiB|MiB|GiB)\\s*$" }),
        Form::Table(place) => json!({ "$ref": format!("#/definitions/{}", name(schema, *place)) }),
        Form::Free => json!({ "type": "object" }),
        Form::List(items) => json!({ "type": "array", "items": any_of(schema, items) }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::{Path, PathBuf};

    /// Whether the schema allows a value; where it does not, the path to it. Knows what the schema above uses.
    fn refused(whole: &Value, schema: &Value, value: &toml_edit::Item, at: &str) -> Option<String> {
        if let Some(of) = schema["$ref"].as_str() {
            let name = of.strip_prefix("#/definitions/").expect("a definition");
            return refused(whole, &whole["definitions"][name], value, at);
        }
        if let Some(all) = schema["allOf"].as_array() {
            return all.iter().find_map(|one| refused(whole, one, value, at));
        }
        if let Some(any) = schema["anyOf"].as_array() {
            let fits = any.iter().any(|one| refused(whole, one, value, at).is_none());
            return (!fits).then(|| format!("{at}: none of {any:?}"));
        }
        if let Some(names) = schema["enum"].as_array() {
            let text = value.as_str().unwrap_or_default();
            return (!names.iter().any(|name| name == text)).then(|| format!("{at}: {text:?} is none of {names:?}"));
        }
        let wrong = || Some(format!("{at}: {value} is no {}", schema["type"]));
        match schema["type"].as_str() {
            None => None,
            Some("object") => {
                let Some(table) = value.as_table_like() else { return wrong() };
                table.iter().find_map(|(key, inner)| match &schema["properties"] {
                    Value::Object(keys) => match keys.get(key) {
                        Some(of_key) => refused(whole, of_key, inner, &format!("{at}.{key}")),
                        None => Some(format!("{at}: no key {key}")),
                    },
                    _ => None,
                })
            }
            Some("array") => {
                let items: Vec<toml_edit::Item> = match (value.as_array(), value.as_array_of_tables()) {
                    (Some(array), _) => array.iter().map(|it| toml_edit::Item::Value(it.clone())).collect(),
                    (_, Some(tables)) => tables.iter().map(|it| toml_edit::Item::Table(it.clone())).collect(),
                    (None, None) => return wrong(),
                };
                items.iter().find_map(|item| refused(whole, &schema["items"], item, at))
            }
            Some("boolean") => {
                if value.is_bool() {
                    None
                } else {
                    wrong()
                }
            }
            Some("integer") => {
                if value.is_integer() {
                    None
                } else {
                    wrong()
                }
            }
            Some("number") => {
                if value.is_integer() || value.is_float() {
                    None
                } else {
                    wrong()
                }
            }
            Some("string") => {
                let Some(text) = value.as_str() else { return wrong() };
                let units = ["ns", "us", "µs", "ms", "s", "B", "KiB", "MiB", "GiB"];
                let fits = schema.get("pattern").is_none()
                    || (text.trim().starts_with(|c: char| c.is_ascii_digit())
                        && units.iter().any(|it| text.ends_with(it)));
                if fits {
                    None
                } else {
                    wrong()
                }
            }
            Some(other) => panic!("{other}"),
        }
    }

    fn files(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            match path.extension().and_then(|it| it.to_str()) {
                _ if path.is_dir() && !path.ends_with("target") => files(&path, found),
                Some("toml") if !path.ends_with("Cargo.toml") => found.push(path),
                _ => {}
            }
        }
    }

    #[test]
    fn every_system_file_of_the_repository_is_one_by_the_schema_and_broken_ones_are_not_by_their_keys() {
        let whole = as_json(&tables());
        let mut all = Vec::new();
        files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples"), &mut all);
        let (mut systems, mut others) = (0, 0);
        for path in &all {
            let text = std::fs::read_to_string(path).expect("a text");
            let Ok(table) = text.parse::<toml_edit::DocumentMut>() else { continue };
            let told = refused(&whole, &whole, table.as_item(), "");
            match tactus_model::SystemFile::read(path) {
                Ok(_) => {
                    assert_eq!(told, None, "{}", path.display());
                    systems += 1;
                }
                // Networks, costs and broken files: those with an unknown key are refused here too. Which keys a policy has depends on its kind.
                Err(problems) => {
                    let unknown = problems.iter().any(|it| {
                        matches!(it.complaint, tactus_model::Complaint::UnknownKey { .. }) && it.subject != "[policy]"
                    });
                    let own = problems.iter().all(|it| it.file == *path);
                    if unknown && own {
                        assert!(told.is_some(), "{}: {problems}", path.display());
                        others += 1;
                    }
                }
            }
        }
        assert!(systems > 40 && others > 5, "{systems} systems, {others} others");
    }

    #[test]
    fn each_key_of_a_task_says_what_it_expects() {
        let whole = as_json(&tables());
        let task = &whole["definitions"]["task"]["properties"];
        assert_eq!(task["name"], json!({ "type": "string", "description": "a name in quotes" }));
        assert_eq!(task["level"]["enum"], json!(["A", "B", "C", "D"]));
        assert_eq!(whole["properties"]["task"]["items"]["$ref"], "#/definitions/task");
        assert!(whole["definitions"]["policy"]["properties"]["kind"]["enum"]
            .as_array()
            .is_some_and(|it| it.len() > 20));
    }
}
