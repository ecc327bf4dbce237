//! Several profiles named at once.

mod support;

use mprof_format::model::{Frame, Names, Profile, SourceFrame};
use support::{Recording, Workshop, isolated, text};

/// What names say, without the ids in which two of them may differ.
fn said(names: &Names) -> Vec<String> {
    let frame = |of: &SourceFrame| {
        let function = &names.functions[of.function as usize];
        let file = |id: Option<u32>| id.map(|id| String::from_utf8_lossy(&names.files[id as usize]));
        format!(
            "{} {:?} {:?}:{} at {:?}:{}+{}",
            String::from_utf8_lossy(&function.name),
            function.module,
            file(function.file),
            function.line,
            file(of.file),
            of.line,
            of.offset
        )
    };
    let site = |(at, site): (&Frame, &mprof_format::model::Site)| {
        format!("{at:?} {:?}", site.frames.iter().map(frame).collect::<Vec<_>>())
    };
    let types = names.types.iter().map(|of| format!("{of:?}"));
    names.sites.iter().map(site).chain(types).collect()
}

/// Two programs that share a library, which one of them has loaded as its second module and the other as its third.
fn recordings(workshop: &Workshop) -> [Recording; 2] {
    workshop.write(
        "lib.c",
        "#include <stdlib.h>\nstruct shared { char c[24]; };\nstruct wide { char c[40]; };\n\
         struct wide w; struct shared s;\nvoid *make(void) { return malloc(sizeof(struct shared)); }\n",
    );
    workshop.write(
        "one.c",
        "void *make(void);\nstruct own { char c[24]; } o;\nint main(void) { return !make(); }\n",
    );
    workshop.write("two.c", "void *make(void);\nint main(void) {\n  return !make() + !make();\n}\n");
    workshop.run("gcc -O0 -g -shared -fPIC lib.c -o lib.so; gcc -O0 -g one.c ./lib.so -o one");
    workshop.run("gcc -O0 -g two.c ./lib.so -o two; gcc -O0 -shared -fPIC -x c /dev/null -o other.so");
    let make = workshop.call("lib.so", "make", "malloc");
    let mut one = Recording::of(&workshop.file("one"));
    one.frame(workshop.call("one", "main", "make"));
    let library = one.module(&workshop.file("lib.so"));
    one.add(Frame::Code { module: library, address: make, interrupted: false });
    one.sizes(&[24]);
    let mut two = Recording::of(&workshop.file("two"));
    for address in workshop.calls("two", "main", "make") {
        two.frame(address);
    }
    two.module(&workshop.file("other.so"));
    let library = two.module(&workshop.file("lib.so"));
    two.add(Frame::Code { module: library, address: make, interrupted: false });
    two.sizes(&[40]);
    [one, two]
}

#[test]
fn names_are_those_that_each_profile_gets_by_itself() {
    let workshop = Workshop::new();
    let mut apart = recordings(&workshop);
    let mut together: Vec<Profile> = apart.iter().map(|recording| recording.profile.clone()).collect();
    apart.iter_mut().for_each(|recording| assert_eq!(text(&recording.name()), [""; 0]));
    let mut all: Vec<&mut Profile> = together.iter_mut().collect();
    assert_eq!(text(&mpfilt::add_names_to_all(&mut all, &isolated())), [""; 0]);
    for (recording, profile) in apart.iter().zip(&together) {
        let names = profile.names.as_ref().expect("named");
        assert_eq!(said(names), said(recording.names()));
        let mut bytes = Vec::new();
        mprof_format::write_profile(profile, &mut bytes).expect("the names can be written");
        assert_eq!(mprof_format::read(&bytes).expect("and read").profile.names.as_ref(), Some(names));
    }
    assert!(said(apart[0].names()).iter().any(|line| line.contains("make Some(1)")), "by the module's id");
    assert!(said(apart[1].names()).iter().any(|line| line.contains("make Some(2)")));
    assert_eq!(apart[0].types(24), ["own", "shared"]);
    assert_eq!(apart[1].types(24), [""; 0], "types of the sizes that a profile has");
}

#[test]
fn a_file_that_is_gone_is_complained_of_once() {
    let workshop = Workshop::new();
    let mut recordings = recordings(&workshop);
    workshop.run("rm lib.so");
    let mut all: Vec<&mut Profile> = recordings.iter_mut().map(|recording| &mut recording.profile).collect();
    let warnings = text(&mpfilt::add_names_to_all(&mut all, &isolated()));
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(warnings[0].starts_with("lib.so: "), "{warnings:?}");
}

#[test]
fn no_profiles_are_no_work() {
    assert_eq!(text(&mpfilt::add_names_to_all(&mut [], &isolated())), [""; 0]);
}
