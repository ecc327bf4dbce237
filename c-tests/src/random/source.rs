//! The text of a random program: functions of all shapes that call each other at random.
//!
//! A function's shape, its local variables and the list of its actions are chosen here; which action is taken when is
//! chosen by the program as it runs, from the seed that it is given.

use super::chance::Chance;

/// One source file and how it is compiled.
#[derive(Debug, Clone)]
pub(crate) struct Unit {
    /// File name: `.c` or `.cpp`.
    pub name: String,
    /// Its text.
    pub text: String,
    /// Compiler flags that are its own.
    pub flags: &'static str,
    /// It becomes a shared library that the program is linked with.
    pub shared: bool,
}

/// The functions of a program.
#[derive(Debug, Clone)]
pub(crate) struct Source {
    /// All units, the last of which has the table of functions.
    pub units: Vec<Unit>,
    /// The functions' names, in the order of their numbers in the truth.
    pub functions: Vec<String>,
}

/// With each of these, frames look different.
const FLAGS: [&str; 9] = [
    "-O0",
    "-O1",
    "-O2",
    "-O2 -fno-omit-frame-pointer",
    "-O2 -fstack-protector-all -fcf-protection=full",
    "-O3 -mno-red-zone",
    "-O2 -maccumulate-outgoing-args",
    "-O2 -fno-shrink-wrap -fstack-clash-protection",
    "-Os",
];

/// How a function takes its arguments. All take the thread, the caller's node and the depth that is left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// Nothing more: such a function can be called by number.
    Plain,
    /// Seven numbers more, four of them on the stack.
    Wide,
    /// Any number of numbers more.
    Variadic,
    /// It returns a structure through memory.
    Returning,
}

#[derive(Debug, Clone, Copy)]
struct Function {
    number: usize,
    unit: usize,
    shape: Shape,
}

impl Function {
    fn prototype(self) -> String {
        let name = name(self.number);
        let common = "struct self *self, unsigned parent, int depth";
        match self.shape {
            Shape::Plain => format!("void {name}({common})"),
            Shape::Wide => {
                format!("void {name}({common}, long a, long b, long c, long d, long e, long f, long g)")
            }
            Shape::Variadic => format!("void {name}({common}, ...)"),
            Shape::Returning => format!("struct numbers {name}({common})"),
        }
    }

    fn call(self) -> String {
        let name = name(self.number);
        match self.shape {
            Shape::Plain => format!("{name}(self, here, depth - 1)"),
            Shape::Wide => format!("{name}(self, here, depth - 1, depth, 2, 3, here, 5, 6, 7)"),
            Shape::Variadic => format!("{name}(self, here, depth - 1, 1, 2, 3, 4.5, depth, 6, 7, 8)"),
            Shape::Returning => format!("self->sum += {name}(self, here, depth - 1).a[here % 4]"),
        }
    }
}

fn name(number: usize) -> String {
    format!("f{number}")
}

/// The program with this seed.
pub(crate) fn generate(seed: u64) -> Source {
    let mut chance = Chance::new(seed);
    let units = usize::try_from(chance.between(2, 4)).expect("a small number");
    let count = usize::try_from(chance.between(10, 40)).expect("a small number");
    let functions: Vec<Function> = (0..count)
        .map(|number| Function {
            number,
            unit: usize::try_from(chance.below(units as u64)).expect("an index"),
            // The first can be called by number, so that there is one.
            shape: if number == 0 { Shape::Plain } else { shape(&mut chance) },
        })
        .collect();
    let units = (0..units).map(|unit| write_unit(unit, &functions, unit + 1 == units, &mut chance)).collect();
    Source { units, functions: functions.iter().map(|function| name(function.number)).collect() }
}

fn shape(chance: &mut Chance) -> Shape {
    use Shape::{Plain, Returning, Variadic, Wide};
    *chance.one_of(&[Plain, Plain, Plain, Plain, Wide, Variadic, Returning])
}

fn write_unit(unit: usize, functions: &[Function], last: bool, chance: &mut Chance) -> Unit {
    let cpp = chance.once_in(2);
    let mut text = "#include \"runtime.h\"\n\n".to_owned();
    if cpp {
        text += "extern \"C\" {\n";
    }
    text += "struct numbers { unsigned long a[4]; };\n";
    for function in functions {
        text += &format!("{};\n", function.prototype());
    }
    text.push('\n');
    for function in functions.iter().filter(|function| function.unit == unit) {
        text += &write_function(*function, functions, cpp, chance);
    }
    if cpp {
        text += "}\n";
    }
    // Only the last is a shared library, so that it can be linked without the others.
    let shared = last && chance.once_in(2);
    let flags: &'static str = chance.one_of::<&'static str>(&FLAGS);
    let extension = if cpp { "cpp" } else { "c" };
    Unit { name: format!("unit{unit}.{extension}"), text, flags, shared }
}

/// The table of the functions that can be called by number, and what only C++ can define.
pub(crate) fn write_table(source: &Source) -> String {
    let mut text = "#include \"runtime.h\"\n\nextern \"C\" {\n".to_owned();
    let plain: Vec<&str> = source
        .functions
        .iter()
        .map(String::as_str)
        .filter(|name| source.units.iter().any(|unit| unit.text.contains(&format!("\nvoid {name}{PLAIN};"))))
        .collect();
    for name in &plain {
        text += &format!("void {name}{PLAIN};\n");
    }
    text += &format!("function *const functions[] = {{{}}};\n", plain.join(", "));
    text += &format!("const unsigned function_count = {};\n}}\n\n", plain.len());
    text + DESTRUCTOR
}

/// Nobody may leave a destructor by a jump, an exception, or by staying in it.
const DESTRUCTOR: &str = "Guard::~Guard() {
    unsigned here = enter(parent, GUARD);
    struct flow flow = self->flow, quiet = {0, 0, flow.signals, 1000, 0};
    size_t size = draw_size(self);
    remember(self, here, malloc(size), size, 16);
    self->flow = quiet;
    functions[draw(self, function_count)](self, here, depth);
    self->flow = flow;
}
";

const PLAIN: &str = "(struct self *self, unsigned parent, int depth)";

fn write_function(function: Function, functions: &[Function], cpp: bool, chance: &mut Chance) -> String {
    let mut text = format!("FRAME {} {{\n", function.prototype());
    text += &format!("    unsigned here = enter(parent, OWN_FUNCTIONS + {});\n", function.number);
    text += &locals(chance);
    let guarded = cpp && chance.once_in(5);
    if guarded {
        // A jump past a destructor is not defined.
        text += "    jmp_buf *outside = self->flow.jump;\n    self->flow.jump = 0;\n    Guard guard = {self, here, depth / 2};\n";
    }
    let most = chance.between(1, 4);
    text += &format!("    for (int turn = turns(self, {most}); turn > 0; turn--) {{\n");
    let actions = chance.between(3, 8);
    text += &format!("        switch (draw(self, {actions})) {{\n");
    for number in 0..actions {
        // Enough calls for deep chains, and an allocation in each function.
        let action = match number {
            0 => allocation(cpp, chance),
            1 => call(function, functions, chance),
            _ => action(function, functions, cpp, chance),
        };
        text += &format!("        case {number}: {{ {action} }} break;\n");
    }
    text += "        }\n    }\n";
    if guarded {
        text += "    self->flow.jump = outside;\n";
    }
    match function.shape {
        Shape::Returning => {
            text += "    struct numbers result = {{self->random, here, 2, 3}};\n    return result;\n"
        }
        Shape::Wide => text += "    self->sum += a + b + c + d + e + f + g;\n",
        _ => {}
    }
    text + "}\n\n"
}

/// Local variables, which make the frame.
fn locals(chance: &mut Chance) -> String {
    let size = chance.between(1, 400);
    let alignment = chance.one_of(&[32, 64, 128]);
    let fixed = format!("    char fixed[{size}];\n    touch(self, fixed, sizeof fixed);\n");
    let aligned = format!(
        "    __attribute__((aligned({alignment}))) char aligned[{size}];\n    touch(self, aligned, sizeof aligned);\n"
    );
    let variable = format!(
        "    size_t room = 1 + draw(self, {});\n    char *variable = (char *)alloca(room);\n    touch(self, variable, room);\n",
        size * 2
    );
    match chance.below(8) {
        0 | 1 => fixed,
        2 | 3 => variable,
        4 => aligned,
        5 => aligned + &variable,
        _ => String::new(),
    }
}

fn action(function: Function, functions: &[Function], cpp: bool, chance: &mut Chance) -> String {
    match chance.below(16) {
        0..4 => allocation(cpp, chance),
        4..6 => release(chance),
        6..12 => call(function, functions, chance),
        12 => with_coroutine(function, functions, chance),
        13 => chance
            .one_of(&["yield(self);", "interrupt(self, here, depth - 1);", "touch(self, &self->sum, 8);"])
            .to_string(),
        14 => jump(function, functions, chance),
        _ if cpp => exception(function, functions, chance),
        _ => jump(function, functions, chance),
    }
}

fn allocation(cpp: bool, chance: &mut Chance) -> String {
    let alignment = 1u64 << chance.between(4, 12);
    let size = "size_t size = draw_size(self)";
    let remember =
        |alignment: u64, how: &str| format!("{size}; remember(self, here, {how}, size, {alignment});");
    match chance.below(if cpp { 10 } else { 8 }) {
        0 | 1 => remember(16, "malloc(size)"),
        2 => format!("{size}; remember_zeroes(self, here, calloc(1, size), size);"),
        3 => format!("{size} / 8; remember_zeroes(self, here, calloc(size, 8), size * 8);"),
        4 => format!("{size}; remember(self, here, realloc(0, size), size, 16);"),
        5 => format!(
            "{size}; void *p = 0; if (!posix_memalign(&p, {alignment}, size)) remember(self, here, p, size, {alignment});"
        ),
        6 => remember(alignment, &format!("memalign({alignment}, size)")),
        7 => format!(
            "{size}; struct object o = take(self); resized(self, here, o, realloc(o.pointer, size), size);"
        ),
        // The C++ library asks for a byte where none is asked of it.
        _ => {
            format!("{size} + 1; remember(self, enter(here, OPERATOR_NEW), ::operator new(size), size, 16);")
        }
    }
}

fn release(chance: &mut Chance) -> String {
    let times = chance.between(1, 6);
    format!(
        "for (int i = 0; i < {times}; i++) {{ struct object o = take(self); free(o.pointer); freed(o); }}"
    )
}

/// A call of one function or another, once or several times.
fn call(function: Function, functions: &[Function], chance: &mut Chance) -> String {
    let direct = if chance.once_in(6) { function } else { *chance.one_of(functions) };
    let once = if chance.once_in(4) {
        let first = chance.below(64);
        format!("functions[(here + {first}) % function_count](self, here, depth - 1);")
    } else {
        format!("{};", direct.call())
    };
    let calls = match chance.below(5) {
        0 => {
            let times = chance.between(2, 5);
            format!("for (int i = 0; i < {times}; i++) {once}")
        }
        // The same again, with the same random numbers: the same chains, if nobody else interferes.
        1 => format!(
            "uint64_t random = self->random; for (int i = 0; i < 3; i++) {{ self->random = random; {once} }}"
        ),
        _ => once,
    };
    format!("if (depth > 0) {{ {calls} }}")
}

fn with_coroutine(function: Function, functions: &[Function], chance: &mut Chance) -> String {
    let between = call(function, functions, chance);
    format!(
        "if (depth > 0) {{ struct coroutine *c = begin_coroutine(self, depth - 1); \
         while (c && resume(self, c)) {{ {between} }} }}"
    )
}

fn jump(function: Function, functions: &[Function], chance: &mut Chance) -> String {
    if chance.once_in(3) {
        return "if (self->flow.jump && draw(self, 2)) longjmp(*self->flow.jump, 1);".to_owned();
    }
    let inside = call(function, functions, chance);
    let after = call(function, functions, chance);
    format!(
        "jmp_buf place; struct flow flow = self->flow; \
         if (setjmp(place) == 0) {{ self->flow.jump = &place; {inside} self->flow = flow; }} \
         else {{ self->flow = flow; {after} }}"
    )
}

fn exception(function: Function, functions: &[Function], chance: &mut Chance) -> String {
    if chance.once_in(3) {
        return "if (self->flow.catching && draw(self, 2)) { thrown(here); throw Thrown{here, {1, 2, 3}}; }"
            .to_owned();
    }
    let inside = call(function, functions, chance);
    // Nobody may leave the handler by a jump or by staying in it: its exception is to be freed.
    let mut handler =
        "struct flow quiet = flow; quiet.jump = 0; quiet.coroutine = 0; self->flow = quiet; ".to_owned();
    handler += &call(function, functions, chance);
    handler += " self->flow = flow; ";
    if chance.once_in(3) {
        handler += "if (flow.catching) throw; ";
    }
    format!(
        "struct flow flow = self->flow; \
         try {{ self->flow.catching++; {inside} self->flow = flow; }} \
         catch (const Thrown &caught) {{ self->sum += caught.node; {handler} }}"
    )
}
